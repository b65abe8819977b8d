// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/link_fit.hpp"
#include "core/cost/profile.hpp"

#include <QWidget>

class QComboBox;
class QSpinBox;
class QTreeWidget;

namespace loadline {

class LineChart;
class TitleRow;
class WorkRow;

/// Collectives over size: what was measured as dots, the fit by regimes as line, and what the fit misses below.
class LinksPage : public QWidget {
    Q_OBJECT
public:
    explicit LinksPage(QWidget* parent = nullptr);

    void begin();
    void addRow(const LinkRow& row);
    void setProfile(const Profile& profile);
    void setDevices(const QStringList& kinds);
    void setRanks(int ranks);

    [[nodiscard]] WorkRow* work() const { return m_work; }
    [[nodiscard]] LineChart* curves() const { return m_curves; }
    [[nodiscard]] LineChart* residuals() const { return m_residuals; }
    [[nodiscard]] QTreeWidget* table() const { return m_table; }
    [[nodiscard]] QString device() const;
    [[nodiscard]] int ranks() const;
    [[nodiscard]] int seconds() const;
    [[nodiscard]] std::size_t measured() const { return m_rows.size(); }

signals:
    void hovered(const QString& words);

private:
    void offerGroups();
    void refill();

    std::vector<LinkRow> m_rows;
    WorkRow* m_work;
    QComboBox* m_device;
    QSpinBox* m_ranks;
    QSpinBox* m_seconds;
    QComboBox* m_group; ///< on show
    TitleRow* m_title;
    LineChart* m_curves;
    TitleRow* m_missTitle;
    LineChart* m_residuals;
    QTreeWidget* m_table;
};

} // namespace loadline
