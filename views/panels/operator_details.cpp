// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/operator_details.hpp"

#include "core/cost/derivation.hpp"
#include "views/format/text.hpp"
#include "views/palette.hpp"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace loadline {
namespace {

QString resultText(const Derivation& line)
{
    if (const auto* bytes = std::get_if<Bytes>(&line.result))
        return bytesText(*bytes);
    return secondsText(std::get<Seconds>(line.result));
}

} // namespace

OperatorDetails::OperatorDetails(QWidget* parent)
    : QWidget(parent), m_name(new QLabel(this)), m_choice(new QLabel(this)), m_table(new QTreeWidget(this)), m_map(new ChoiceMap(this))
{
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 8, 12, 4);
    auto* left = new QVBoxLayout;
    layout->addLayout(left, 3);
    layout->addWidget(m_map, 1);
    m_name->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_choice->setWordWrap(true);
    left->addWidget(m_name);
    left->addWidget(m_choice);
    left->addWidget(m_table, 1);
    m_table->setColumnCount(4);
    m_table->setHeaderLabels({tr("Figure"), tr("Value"), tr("Formula"), tr("With values")});
    m_table->setRootIsDecorated(false);
    m_table->setUniformRowHeights(true);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setAccessibleName(tr("Figures of the operator"));
    m_table->header()->resizeSection(0, 170);
    m_table->header()->resizeSection(1, 90);
    m_table->header()->resizeSection(2, 320);
    connect(m_map, &ChoiceMap::hovered, this, &OperatorDetails::hovered);
    clear();
}

void OperatorDetails::clear()
{
    m_name->setText(tr("No operator is selected"));
    m_choice->setText(tr("Select one in the list on the left to see where its figures come from."));
    m_table->clear();
    m_map->setUnit(nullptr, 0);
}

QString OperatorDetails::heading() const
{
    return m_name->text() + QLatin1Char('\n') + m_choice->text();
}

void OperatorDetails::setUnit(const PlanPicturePtr& picture, std::size_t unit, std::optional<Bytes> flip)
{
    const Plan* plan = picture ? picture->plan() : nullptr;
    if (plan == nullptr || unit >= plan->table.units.size())
        return clear();
    const Unit& which = plan->table.units[unit];
    m_name->setFont(fontOf(12.5, true));
    m_name->setText(text(which.name));
    const QString chosen = which.parameters > 0 ? strategyText(plan->cost(unit).strategy, plan->table.setup.cluster.ranks())
                                                : tr("no parameters: nothing to choose");
    m_choice->setText(flip ? tr("%1; with %2 or more of memory it is chosen otherwise").arg(chosen, bytesText(*flip)) : chosen);
    m_table->clear();
    for (const Derivation& line : derivations(plan->table, unit, plan->choice[unit])) {
        const bool time = std::holds_alternative<Seconds>(line.result);
        const QString source = !time ? QString() : line.measured ? tr(" (measured)") : tr(" (estimated)");
        auto* item = new QTreeWidgetItem(m_table, {text(line.what), resultText(line), text(line.formula) + source, text(line.values)});
        item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
        for (int column = 0; column < 4; ++column)
            item->setToolTip(column, item->text(column));
    }
    m_map->setUnit(picture, unit);
}

} // namespace loadline
