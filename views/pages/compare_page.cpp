// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/compare_page.hpp"

#include "views/charts/budget_handle.hpp"
#include "views/charts/decision_strip.hpp"
#include "views/charts/memory_chart.hpp"
#include "views/charts/trade_off_chart.hpp"
#include "views/format/text.hpp"
#include "views/models/compare_model.hpp"
#include "views/pages/page_parts.hpp"
#include "views/pages/step_page.hpp"
#include "views/panels/cell_delegates.hpp"
#include "views/panels/title_row.hpp"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSplitter>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>

namespace loadline {
namespace {

QString figures(const ComparePage::Side& side)
{
    const Plan* plan = side.picture ? side.picture->plan() : nullptr;
    return plan ? ComparePage::tr("%1: %2 a step, peak %3").arg(side.name, secondsText(plan->objective), bytesText(plan->peak))
                : ComparePage::tr("%1: nothing fits").arg(side.name);
}

} // namespace

ComparePage::ComparePage(QWidget* parent)
    : QWidget(parent), m_summary(new QLabel(this)), m_warning(new QLabel(this)), m_charts(new StepPage(this)),
      m_stripA(new DecisionStrip(this)), m_tradeOff(new TradeOffChart(this)), m_tableTitle(new TitleRow(tr("What differs"), {}, this)),
      m_only(new QCheckBox(tr("Only differences"), this)), m_model(new CompareModel(this)), m_table(new QTreeView(this)),
      m_settings(new QLabel(this))
{
    auto* column = panelColumn(this);
    for (QLabel* label : {m_summary, m_warning, m_settings}) {
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        label->setContentsMargins(12, 8, 16, 8);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    m_warning->setObjectName(QStringLiteral("warning"));
    m_settings->setObjectName(QStringLiteral("soft"));
    m_charts->memory()->handle()->hide(); // here nothing is dragged
    auto* left = new QWidget(this);
    auto* charts = panelColumn(left);
    charts->addWidget(m_charts, 4);
    charts->addWidget(new TitleRow(tr("Decisions of A"), tr("those of B stand above"), left));
    charts->addWidget(m_stripA);
    charts->addWidget(new TitleRow(tr("Trade-off"), tr("step time over budget, dotted: A"), left));
    charts->addWidget(m_tradeOff, 1);
    m_tradeOff->handle()->hide();
    auto* right = new QWidget(this);
    auto* list = panelColumn(right);
    auto* head = new QHBoxLayout;
    head->addWidget(m_tableTitle, 1);
    head->addWidget(m_only);
    head->addSpacing(16);
    list->addLayout(head);
    list->addWidget(m_table, 1);
    list->addWidget(m_settings);
    m_only->setChecked(true);
    m_table->setModel(m_model);
    auto* rows = new RowDelegate(m_table);
    rows->setFirstStrong(false);
    m_table->setItemDelegate(rows);
    m_table->setRootIsDecorated(false);
    m_table->setUniformRowHeights(true);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setAccessibleName(tr("Differences by operator"));
    m_table->header()->setStretchLastSection(true);
    const int widths[] = {210, 150, 150, 110};
    for (int i = 0; i < 4; ++i)
        m_table->header()->resizeSection(i, widths[i]);
    auto* across = new QSplitter(Qt::Horizontal, this);
    across->addWidget(left);
    across->addWidget(right);
    across->setSizes({700, 720});
    thinHandles(across);
    column->addWidget(m_summary);
    column->addWidget(m_warning);
    column->addWidget(across, 1);
    connect(m_only, &QCheckBox::toggled, m_model, &CompareModel::setOnlyDifferences);
    connect(m_charts, &StepPage::hovered, this, &ComparePage::hovered);
    connect(m_tradeOff, &Chart::hovered, this, &ComparePage::hovered);
    connect(m_stripA, &DecisionStrip::hovered, this, &ComparePage::hovered);
    clear();
}

void ComparePage::clear()
{
    m_summary->setText(
        tr("Nothing to compare yet: pin a plan and change something, choose two sessions, or drop two plans on the window."));
    m_warning->hide();
    m_settings->clear();
    m_model->setPlans(nullptr, nullptr);
    setTradeOffs(nullptr, nullptr);
}

void ComparePage::setTradeOffs(const std::shared_ptr<const TradeOffPicture>& a, const std::shared_ptr<const TradeOffPicture>& b)
{
    m_tradeOff->setGhost(b ? a : nullptr);
    m_tradeOff->setPicture(b ? b : a);
}

void ComparePage::setSides(const Side& a, const Side& b, const QStringList& settings, const QStringList& warnings)
{
    const Plan* before = a.picture ? a.picture->plan() : nullptr;
    const Plan* after = b.picture ? b.picture->plan() : nullptr;
    QString words = tr("A, dotted: %1     B, solid: %2").arg(figures(a), figures(b));
    if (before != nullptr && after != nullptr && before->objective.value() > 0)
        words += tr("     B against A: %1 step time, %2 peak")
                     .arg(signedPercentText(after->objective.value() / before->objective.value() - 1),
                          signedPercentText(double(after->peak.count()) / double(std::max<std::int64_t>(before->peak.count(), 1)) - 1));
    m_summary->setText(words);
    m_warning->setText(warnings.isEmpty()
                           ? QString()
                           : tr("These two cannot be compared as better and worse: %1.").arg(warnings.join(QStringLiteral("; "))));
    m_warning->setVisible(!warnings.isEmpty());
    m_settings->setText(settings.isEmpty() ? tr("Same model, cluster and settings.")
                                           : tr("Settings that differ: %1.").arg(settings.join(QStringLiteral("; "))));
    const auto& shown = after != nullptr ? b.picture : a.picture;
    double top = 1;
    for (const Plan* plan : {before, after})
        top = plan != nullptr ? std::max(top, static_cast<double>(plan->peak.count()) * 1.12) : top;
    m_charts->memory()->setTop(Bytes(static_cast<std::int64_t>(top)));
    if (shown) {
        m_charts->setPicture(shown);
        m_charts->setGhost(before != nullptr ? a.picture : nullptr);
    }
    if (a.picture)
        m_stripA->setPicture(a.picture);
    if (shown && shown->plan() != nullptr) {
        m_tradeOff->setCurrent(shown);
        m_tradeOff->setBudget(shown->outcome->budget);
    }
    m_model->setPlans(before, after);
    m_tableTitle->setUnit(tr("%1 of %2 operators").arg(m_model->differences()).arg(m_model->units()));
}

QString ComparePage::warning() const
{
    return m_warning->isHidden() ? QString() : m_warning->text();
}

QString ComparePage::summary() const
{
    return m_summary->text();
}

} // namespace loadline
