// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"

#include <QAbstractTableModel>
#include <QStringList>

#include <cstdint>
#include <optional>
#include <vector>

namespace loadline {

/// A saved session as the list shows it.
struct SessionLine {
    std::int64_t id = 0;
    QString name;
    QString model;
    QString cluster;
    std::optional<Bytes> budget;
    std::optional<Seconds> step;
    std::optional<double> measuredError; ///< of step time: measured against predicted
    std::int64_t modified = 0;           ///< seconds since 1970, UTC
    QStringList tags;
    QString notes;
    friend bool operator==(const SessionLine&, const SessionLine&) = default;
};

/// Saved sessions, newest first. Name, tags and notes can be edited in place.
class SessionModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, Model, Cluster, Budget, StepTime, Error, Date, Tags, Notes, kColumns };
    enum Role { MoodRole = Qt::UserRole + 1 };
    using QAbstractTableModel::QAbstractTableModel;

    void setLines(std::vector<SessionLine> lines);
    /// The one that is open, shown strong.
    void setCurrent(std::int64_t id);
    [[nodiscard]] const std::vector<SessionLine>& lines() const { return m_lines; }
    [[nodiscard]] const SessionLine* at(const QModelIndex& index) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    void edited(qint64 id, int column, const QString& words);

private:
    [[nodiscard]] QString words(const SessionLine& line, int column) const;

    std::vector<SessionLine> m_lines;
    std::int64_t m_current = 0;
};

} // namespace loadline
