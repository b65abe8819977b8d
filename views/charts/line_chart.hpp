// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/chart.hpp"

#include <QColor>

#include <functional>
#include <vector>

namespace loadline {

struct Palette;

/// Points of one line, x ascending.
struct LineSeries {
    enum class Style { Line, Dots, Dashed };
    QString name;
    std::vector<std::pair<double, double>> points;
    Style style = Style::Line;
    std::function<QColor(const Palette&)> color; ///< asked at each restyle
};

/// Lines and dots over one pair of axes. The nearest point is read out under the mouse.
class LineChart : public Chart {
    Q_OBJECT
public:
    /// What an axis counts, and so how it is scaled and labelled: sizes and times from small to large are logarithmic.
    enum class Scale { Count, Plain, LogBytes, LogSeconds, Share };

    LineChart(Scale x, Scale y, const QString& name, QWidget* parent = nullptr);

    /// Names of the columns of `table`, with units.
    void setColumns(const QString& x, const QString& y);
    void setSeries(std::vector<LineSeries> series);
    /// Range of x where there are fewer points than will come; 0: by the points.
    void setXEnd(double end);

    [[nodiscard]] const std::vector<LineSeries>& series() const { return m_series; }
    [[nodiscard]] ChartTable table() const override;
    [[nodiscard]] static QString words(Scale scale, double value);

protected:
    void restyle() override;
    void hoverAt(const QPoint* point) override;

private:
    void fit();

    Scale m_x;
    Scale m_y;
    QString m_xName;
    QString m_yName;
    double m_xEnd = 0;
    std::vector<LineSeries> m_series;
};

} // namespace loadline
