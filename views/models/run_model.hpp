// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"

#include <QAbstractTableModel>

#include <cstdint>
#include <optional>
#include <vector>

namespace loadline {

/// A run of a session as the list shows it.
struct RunLine {
    std::int64_t id = 0;
    std::int64_t started = 0; ///< seconds since 1970, UTC
    bool imported = false;    ///< from a cluster; else a verification run here
    QString outcome;          ///< in words
    std::int64_t ranks = 0;
    QString model;
    QString cluster;
    QString settings; ///< batch, sequence, precision, runtime
    std::optional<Bytes> budget;
    std::optional<Seconds> predictedStep;
    std::optional<Seconds> measuredStep;
    std::optional<Bytes> predictedPeak;
    std::optional<Bytes> measuredPeak;
    friend bool operator==(const RunLine&, const RunLine&) = default;
};

/// Runs of a session side by side, newest first: what ran, and predicted beside measured.
class RunModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        Date,
        Where,
        Outcome,
        Model,
        Cluster,
        Ranks,
        Settings,
        Budget,
        PredictedStep,
        MeasuredStep,
        StepError,
        PredictedPeak,
        MeasuredPeak,
        PeakError,
        kColumns
    };
    using QAbstractTableModel::QAbstractTableModel;

    void setLines(std::vector<RunLine> lines);
    [[nodiscard]] const std::vector<RunLine>& lines() const { return m_lines; }
    /// Whether two rows show different words in a column.
    [[nodiscard]] bool differs(int column) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    [[nodiscard]] QString words(const RunLine& line, int column) const;

    std::vector<RunLine> m_lines;
};

} // namespace loadline
