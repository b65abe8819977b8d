// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/choice_page.hpp"

#include "views/charts/trade_off_chart.hpp"
#include "views/format/text.hpp"
#include "views/models/change_model.hpp"
#include "views/palette.hpp"
#include "views/panels/cell_delegates.hpp"
#include "views/panels/stop_slider.hpp"
#include "views/panels/title_row.hpp"

#include <QFrame>
#include <QLabel>
#include <QListView>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace loadline {
namespace {

constexpr int kLeastChart = 110; ///< pixels
constexpr int kWayHeight = 24;   ///< pixels

QWidget* thinLine(QWidget* parent)
{
    auto* line = new QWidget(parent);
    line->setObjectName(QStringLiteral("line"));
    line->setFixedHeight(1);
    return line;
}

} // namespace

ChoicePage::ChoicePage(const std::vector<int>& granularities, QWidget* parent)
    : QWidget(parent), m_tradeOffTitle(new TitleRow(tr("Trade-off"), tr("ms over budget, GiB"), this)), m_chart(new TradeOffChart(this)),
      m_beyond(new QLabel(this)), m_slider(new StopSlider(granularities, this)), m_changesTitle(new TitleRow(tr("What changed"), {}, this)),
      m_changes(new ChangeModel(this)), m_list(new QListView(this)), m_why(new QLabel(this)), m_scroll(new QScrollArea(this)),
      m_ways(new QWidget(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_tradeOffTitle);
    layout->addWidget(m_chart, 4);
    layout->addWidget(m_beyond);
    layout->addWidget(thinLine(this));
    layout->addWidget(new TitleRow(tr("Split granularity"), tr("most slices per operator"), this));
    layout->addWidget(m_slider);
    layout->addWidget(thinLine(this));
    layout->addWidget(m_changesTitle);
    layout->addWidget(m_list, 3);
    auto* inside = new QWidget(m_scroll);
    auto* below = new QVBoxLayout(inside);
    below->setContentsMargins(12, 0, 12, 8);
    below->setSpacing(8);
    below->addWidget(m_ways);
    below->addWidget(m_why, 1);
    m_scroll->setWidget(inside);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->hide();
    layout->addWidget(m_scroll, 5);
    auto* ways = new QVBoxLayout(m_ways);
    ways->setContentsMargins(0, 0, 0, 0);
    ways->setSpacing(4);
    m_ways->setObjectName(QStringLiteral("waysOut"));
    m_ways->hide();
    m_chart->setMinimumHeight(kLeastChart); // beside a long explanation it would be squeezed to nothing
    for (QLabel* label : {m_beyond, m_why}) {
        label->setWordWrap(true);
        label->setObjectName(QStringLiteral("soft"));
        label->setContentsMargins(12, 0, 12, 8);
        label->setTextFormat(Qt::PlainText);
        label->hide();
    }
    m_why->setContentsMargins(0, 0, 0, 0);
    m_why->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_why->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_list->setModel(m_changes);
    m_list->setItemDelegate(new ChangeDelegate(m_list));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setMouseTracking(true);
    m_list->setAccessibleName(tr("What changed"));
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(m_chart, &Chart::hovered, this, &ChoicePage::hovered);
    connect(m_chart, &TradeOffChart::beyondChanged, this, [this](const QString& words) {
        m_beyond->setText(words);
        m_beyond->setVisible(!words.isEmpty());
    });
    connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
        if (index.isValid())
            emit unitsChosen(m_changes->changes()[static_cast<std::size_t>(index.row())].units);
    });
}

void ChoicePage::setTradeOff(const std::shared_ptr<const TradeOffPicture>& picture, std::int64_t batch)
{
    m_chart->setPicture(picture);
    m_tradeOffTitle->setNote(picture ? tr("batch %1").arg(batch) : tr("computing"));
}

void ChoicePage::setPicture(const PlanPicturePtr& picture)
{
    m_chart->setCurrent(picture);
}

void ChoicePage::setChanges(const Plan* before, const Plan* after)
{
    m_scroll->hide();
    m_why->hide();
    m_ways->hide();
    m_list->show();
    m_changesTitle->setTitle(tr("What changed"));
    std::vector<Change> changes;
    if (before && after)
        changes = changesBetween(*before, *after);
    std::size_t units = 0;
    for (const Change& change : changes)
        units += change.units.size();
    m_changesTitle->setNote(before ? units == 1 ? tr("1 operator") : tr("%1 operators").arg(units) : QString());
    m_changes->setChanges(std::move(changes));
}

void ChoicePage::setInfeasible(const Infeasibility* why, Bytes budget)
{
    m_list->hide();
    m_changesTitle->setTitle(tr("Why nothing fits"));
    m_changesTitle->setNote({});
    QStringList lines{tr("Needs %1 at least.").arg(bytesText(why->leastBudget))};
    for (const std::string& sentence : why->because)
        lines << text(sentence);
    m_why->setText(lines.join(QLatin1Char('\n')));
    m_why->show();
    m_scroll->show();
    fillWays(*why, budget);
}

void ChoicePage::fillWays(const Infeasibility& why, Bytes budget)
{
    qDeleteAll(m_ways->findChildren<QAbstractButton*>());
    auto* layout = static_cast<QVBoxLayout*>(m_ways->layout());
    while (layout->count() > 0)
        delete layout->takeAt(0);
    const auto add = [&](const QString& what, Bytes least, const QString& words) {
        auto* button = new QToolButton(m_ways);
        button->setText(words);
        button->setToolTip(words);
        button->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        button->setMinimumHeight(kWayHeight);
        button->setAccessibleDescription(tr("A way out: nothing fits the budget as it is."));
        connect(button, &QToolButton::clicked, this, [this, what, least] { emit wayOutChosen(what, least); });
        layout->addWidget(button);
    };
    add({}, why.leastBudget, tr("Go to %1").arg(bytesText(why.leastBudget)));
    for (const WayOut& way : why.waysOut) {
        const QString what = text(way.what);
        add(what, std::max(way.leastBudget, budget),
            way.leastBudget <= budget ? tr("%1: fits").arg(what) : tr("%1: %2").arg(what, bytesText(way.leastBudget)));
    }
    m_ways->show();
}

std::vector<QAbstractButton*> ChoicePage::waysOut() const
{
    if (m_ways->isHidden())
        return {};
    const auto found = m_ways->findChildren<QAbstractButton*>();
    return {found.begin(), found.end()};
}

QString ChoicePage::explanation() const
{
    return m_why->isHidden() ? QString() : m_why->text();
}

} // namespace loadline
