// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/cell_delegates.hpp"

#include "views/charts/decision.hpp"
#include "views/format/text.hpp"
#include "views/models/baseline_model.hpp"
#include "views/models/change_model.hpp"
#include "views/models/operator_tree_model.hpp"
#include "views/palette.hpp"

#include <QPainter>
#include <QSortFilterProxyModel>

namespace loadline {
namespace {

constexpr int kRow = 22;
constexpr int kChip = 11;

void paintGround(QPainter& painter, const QStyleOptionViewItem& option)
{
    const Palette& colors = currentPalette();
    if (option.state.testFlag(QStyle::State_Selected))
        painter.fillRect(option.rect, colors.chosen);
    else if (option.state.testFlag(QStyle::State_MouseOver))
        painter.fillRect(option.rect, colors.field);
}

/// Decisions below a row as one chip: side by side in proportion.
void paintChip(QPainter& painter, const QRectF& area, const std::vector<OperatorTreeModel::Share>& shares)
{
    std::size_t all = 0;
    for (const auto& share : shares)
        all += share.count;
    double left = area.left();
    for (const auto& share : shares) {
        const double width = area.width() * static_cast<double>(share.count) / static_cast<double>(all);
        drawDecision(painter, QRectF(left, area.top(), width, area.height()), share.decision, currentPalette());
        left += width;
    }
}

std::vector<OperatorTreeModel::Share> sharesOf(const QModelIndex& index)
{
    if (const auto* proxy = qobject_cast<const QSortFilterProxyModel*>(index.model()))
        return static_cast<const OperatorTreeModel*>(proxy->sourceModel())->shares(proxy->mapToSource(index));
    return static_cast<const OperatorTreeModel*>(index.model())->shares(index);
}

} // namespace

void OperatorDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const Palette& colors = currentPalette();
    paintGround(*painter, option);
    const QVariant share = index.data(OperatorTreeModel::ShareRole);
    QRect rect = option.rect;
    if (share.isValid()) {
        const QRect field(rect.left() + 4, rect.center().y() - 3, rect.width() - 10, 7);
        painter->fillRect(field, colors.field);
        const bool memory = index.column() == OperatorTreeModel::Memory;
        const int width = qRound(share.toDouble() * field.width());
        if (share.toDouble() > 0)
            painter->fillRect(QRect(field.left(), field.top(), std::max(width, 1), field.height()),
                              memory ? colors.category[0] : colors.compute);
        return;
    }
    const bool sum = index.data(OperatorTreeModel::UnitRole).toInt() < 0;
    if (index.column() == OperatorTreeModel::Name) {
        const auto shares = sharesOf(index);
        if (!shares.empty())
            paintChip(*painter, QRectF(rect.left() + 2, rect.center().y() - 5, kChip, kChip), shares);
        rect.adjust(kChip + 8, 0, 0, 0);
        if (!index.data(OperatorTreeModel::PinRole).toString().isEmpty()) { // the budget's colour marks what a person has set
            painter->setRenderHint(QPainter::Antialiasing);
            painter->setPen(Qt::NoPen);
            painter->setBrush(colors.budget);
            painter->drawEllipse(QPointF(rect.right() - 6, rect.center().y() + 0.5), 3, 3);
            rect.adjust(0, 0, -14, 0);
        }
    }
    const bool strong = sum && !index.parent().isValid() && index.column() == OperatorTreeModel::Name;
    const QFont font = fontOf(index.column() == OperatorTreeModel::Name ? 11.5 : 10.5, strong);
    painter->setFont(font);
    painter->setPen(index.column() == OperatorTreeModel::Name ? colors.text : colors.softText);
    painter->drawText(rect.adjusted(0, 0, -2, 0), Qt::AlignVCenter | Qt::AlignLeft,
                      QFontMetrics(font).elidedText(index.data().toString(), Qt::ElideRight, rect.width() - 2));
}

QSize OperatorDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const
{
    return {60, kRow};
}

void ChangeDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const Palette& colors = currentPalette();
    paintGround(*painter, option);
    const QRect rect = option.rect.adjusted(14, 3, -16, -3);
    const Seconds delta(index.data(ChangeModel::DeltaRole).toDouble());
    const QString time = signedSecondsText(delta);
    const QFont font = fontOf(11.5);
    const QFont soft = fontOf(10.5);
    const int timeWidth = QFontMetrics(font).horizontalAdvance(time);
    painter->setFont(font);
    painter->setPen(delta.value() < 0 ? colors.better : delta.value() > 0 ? colors.worse : colors.softText);
    painter->drawText(rect, Qt::AlignRight | Qt::AlignVCenter, time);
    const QRect words = rect.adjusted(0, 0, -timeWidth - 10, 0);
    painter->setPen(colors.text);
    painter->drawText(words, Qt::AlignLeft | Qt::AlignTop,
                      QFontMetrics(font).elidedText(index.data().toString(), Qt::ElideRight, words.width()));
    painter->setFont(soft);
    painter->setPen(colors.softText);
    painter->drawText(words, Qt::AlignLeft | Qt::AlignBottom,
                      QFontMetrics(soft).elidedText(index.data(ChangeModel::WhatRole).toString(), Qt::ElideRight, words.width()));
}

QSize ChangeDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const
{
    return {120, 38};
}

void RowDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const Palette& colors = currentPalette();
    paintGround(*painter, option);
    const int mood = index.data(BaselineModel::MoodRole).toInt();
    const QFont font = fontOf(11.5, m_firstStrong && index.row() == 0);
    painter->setFont(font);
    painter->setPen(mood > 0                                ? colors.better
                    : mood < 0                              ? colors.worse
                    : index.column() == BaselineModel::Note ? colors.softText
                                                            : colors.text);
    const QRect rect = option.rect.adjusted(14, 0, -6, 0);
    painter->drawText(rect, Qt::AlignLeft | Qt::AlignVCenter,
                      QFontMetrics(font).elidedText(index.data().toString(), Qt::ElideRight, rect.width()));
}

QSize RowDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const QFontMetrics metrics(fontOf(11.5, true));
    return {std::min(metrics.horizontalAdvance(index.data().toString()) + 32, 420), std::max(kRow, option.fontMetrics.height())};
}

} // namespace loadline
