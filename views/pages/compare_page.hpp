// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/plan_picture.hpp"

#include <QWidget>

class QCheckBox;
class QLabel;
class QTreeView;

namespace loadline {

class CompareModel;
class DecisionStrip;
class StepPage;
class TitleRow;
class TradeOffChart;

/// Two plans: A as outline and B solid in the charts, what each chose, and the difference operator by operator.
class ComparePage : public QWidget {
    Q_OBJECT
public:
    struct Side {
        PlanPicturePtr picture; ///< may hold no plan: nothing fits
        QString name;
    };
    explicit ComparePage(QWidget* parent = nullptr);

    /// `settings`: a sentence for each setting that differs. `warnings`: those of them because of which the two cannot be compared
    /// as better and worse.
    void setSides(const Side& a, const Side& b, const QStringList& settings, const QStringList& warnings);
    /// Trade-offs of both, once they are worked out; null: not yet, or there is none.
    void setTradeOffs(const std::shared_ptr<const TradeOffPicture>& a, const std::shared_ptr<const TradeOffPicture>& b);
    void clear();

    [[nodiscard]] CompareModel* model() const { return m_model; }
    [[nodiscard]] StepPage* charts() const { return m_charts; }
    [[nodiscard]] TradeOffChart* tradeOff() const { return m_tradeOff; }
    [[nodiscard]] QCheckBox* onlyDifferences() const { return m_only; }
    [[nodiscard]] QString warning() const;
    [[nodiscard]] QString summary() const;

signals:
    void hovered(const QString& words);

private:
    QLabel* m_summary;
    QLabel* m_warning;
    StepPage* m_charts;
    DecisionStrip* m_stripA;
    TradeOffChart* m_tradeOff;
    TitleRow* m_tableTitle;
    QCheckBox* m_only;
    CompareModel* m_model;
    QTreeView* m_table;
    QLabel* m_settings;
};

} // namespace loadline
