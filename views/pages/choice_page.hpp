// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/changes.hpp"
#include "views/models/plan_picture.hpp"

#include <QWidget>

class QAbstractButton;
class QLabel;
class QScrollArea;
class QListView;

namespace loadline {

class ChangeModel;
class StopSlider;
class TitleRow;
class TradeOffChart;

/// The right column: trade-off with the same budget line, split granularity, and what changed.
class ChoicePage : public QWidget {
    Q_OBJECT
public:
    explicit ChoicePage(const std::vector<int>& granularities, QWidget* parent = nullptr);

    void setTradeOff(const std::shared_ptr<const TradeOffPicture>& picture, std::int64_t batch);
    void setPicture(const PlanPicturePtr& picture);
    /// `before` null: nothing to compare with yet.
    void setChanges(const Plan* before, const Plan* after);
    /// Nothing fits: says what forces it and the ways out, instead of what changed.
    void setInfeasible(const Infeasibility* why, Bytes budget);

    [[nodiscard]] TradeOffChart* tradeOff() const { return m_chart; }
    [[nodiscard]] StopSlider* slider() const { return m_slider; }
    [[nodiscard]] ChangeModel* changes() const { return m_changes; }
    [[nodiscard]] QString explanation() const;
    /// One button a way out of "nothing fits", the least budget first; empty while something fits.
    [[nodiscard]] std::vector<QAbstractButton*> waysOut() const;

signals:
    /// Nothing fits, and this way out was taken: a budget, with what else has to change (empty: nothing; else as WayOut says it).
    void wayOutChosen(const QString& what, loadline::Bytes budget);
    void hovered(const QString& words);
    void unitsChosen(const std::vector<std::size_t>& units);

private:
    void fillWays(const Infeasibility& why, Bytes budget);

    TitleRow* m_tradeOffTitle;
    TradeOffChart* m_chart;
    QLabel* m_beyond;
    StopSlider* m_slider;
    TitleRow* m_changesTitle;
    ChangeModel* m_changes;
    QListView* m_list;
    QLabel* m_why;
    QScrollArea* m_scroll; ///< ways out above, reasons below
    QWidget* m_ways;
};

} // namespace loadline
