// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/timeline.hpp"
#include "views/charts/chart.hpp"

#include <memory>
#include <vector>

class QCPGraph;

namespace loadline {

class StackedColumns;

/// Memory of one rank over one step as it was measured, stacked by category, with the predicted total as dotted outline on the same axes.
/// Without a measurement the prediction stands alone, hatched.
class MeasuredMemoryChart : public Chart {
    Q_OBJECT
public:
    explicit MeasuredMemoryChart(QWidget* parent = nullptr);

    void setTimelines(const std::shared_ptr<const Timeline>& measured, const std::shared_ptr<const Timeline>& predicted);

    /// What an allocator recorded, as a line over the step: its points lie evenly over the whole width, in order. Empty: no line.
    void setRecord(std::vector<Bytes> record);
    [[nodiscard]] const std::vector<Bytes>& record() const { return m_record; }
    [[nodiscard]] QString unit() const; ///< of the axis: "MiB"
    [[nodiscard]] ChartTable table() const override;

signals:
    void unitChanged(const QString& unit);

protected:
    void restyle() override;
    void hoverAt(const QPoint* point) override;

private:
    void showRecord(double width);

    StackedColumns* m_columns;
    QCPGraph* m_line; ///< of the record
    std::vector<Bytes> m_record;
    std::shared_ptr<const Timeline> m_measured;
    std::shared_ptr<const Timeline> m_predicted;
    double m_top = 0;
};

} // namespace loadline
