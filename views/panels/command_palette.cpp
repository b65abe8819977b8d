// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/command_palette.hpp"

#include "views/models/fuzzy.hpp"
#include "views/palette.hpp"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>

namespace loadline {
namespace {

constexpr int kWidth = 480;
constexpr int kRow = 26;
constexpr int kMostRows = 12;
constexpr int kKeyRole = Qt::UserRole;
constexpr int kIndexRole = Qt::UserRole + 1;

/// The command on the left, its key on the right.
class CommandDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Palette& colors = currentPalette();
        const bool enabled = index.flags().testFlag(Qt::ItemIsEnabled);
        painter->fillRect(option.rect, option.state.testFlag(QStyle::State_Selected) ? colors.chosen : colors.panel);
        const QRect inside = option.rect.adjusted(12, 0, -12, 0);
        painter->setFont(fontOf(12));
        painter->setPen(enabled ? colors.text : colors.softText);
        painter->drawText(inside, Qt::AlignLeft | Qt::AlignVCenter, index.data().toString());
        painter->setFont(fontOf(11));
        painter->setPen(colors.softText);
        painter->drawText(inside, Qt::AlignRight | Qt::AlignVCenter, index.data(kKeyRole).toString());
    }

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {kWidth, kRow}; }
};

} // namespace

QString plainWords(const QAction& action)
{
    QString words = action.text();
    words.remove(QLatin1Char('&'));
    while (words.endsWith(QChar(0x2026)))
        words.chop(1);
    return words;
}

CommandPalette::CommandPalette(QWidget* parent)
    : QDialog(parent, Qt::Dialog | Qt::FramelessWindowHint), m_field(new QLineEdit(this)), m_list(new QListWidget(this))
{
    setAccessibleName(tr("Run a command"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->addWidget(m_field);
    layout->addWidget(m_list);
    m_field->setPlaceholderText(tr("Run a command"));
    m_field->setAccessibleName(tr("Letters of the command"));
    m_field->installEventFilter(this);
    m_list->setAccessibleName(tr("Commands"));
    m_list->setItemDelegate(new CommandDelegate(m_list));
    m_list->setUniformItemSizes(true);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setFocusPolicy(Qt::NoFocus); // the keys go to the field
    connect(m_field, &QLineEdit::textChanged, this, &CommandPalette::refill);
    connect(m_field, &QLineEdit::returnPressed, this, &CommandPalette::runCurrent);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::runCurrent);
}

void CommandPalette::openWith(const std::vector<QAction*>& actions)
{
    m_actions.assign(actions.begin(), actions.end());
    m_field->clear();
    refill();
    const int rows = std::clamp(m_list->count(), 1, kMostRows);
    resize(kWidth, m_field->sizeHint().height() + rows * kRow + 28);
    if (const QWidget* over = parentWidget())
        move(over->mapToGlobal(QPoint((over->width() - width()) / 2, over->height() / 8)));
    show();
    m_field->setFocus();
}

void CommandPalette::refill()
{
    struct Line {
        QAction* action;
        int index;
        int score;
    };
    std::vector<Line> lines;
    for (std::size_t i = 0; i < m_actions.size(); ++i) {
        QAction* action = m_actions[i];
        if (action == nullptr || action->isSeparator() || action->text().isEmpty())
            continue;
        if (const auto score = fuzzyScore(m_field->text(), plainWords(*action)))
            lines.push_back({action, static_cast<int>(i), *score});
    }
    std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
        return a.action->isEnabled() != b.action->isEnabled() ? a.action->isEnabled() : a.score > b.score;
    });
    m_list->clear();
    for (const Line& line : lines) {
        auto* item = new QListWidgetItem(plainWords(*line.action), m_list);
        item->setData(kKeyRole, line.action->shortcut().toString(QKeySequence::NativeText));
        item->setData(kIndexRole, line.index);
        item->setToolTip(line.action->toolTip());
        if (!line.action->isEnabled())
            item->setFlags(item->flags() & ~Qt::ItemIsEnabled);
    }
    m_list->setCurrentRow(0);
}

QStringList CommandPalette::shownWords() const
{
    QStringList words;
    for (int row = 0; row < m_list->count(); ++row)
        words << m_list->item(row)->text();
    return words;
}

void CommandPalette::runCurrent()
{
    const QListWidgetItem* item = m_list->currentItem();
    if (item == nullptr || !item->flags().testFlag(Qt::ItemIsEnabled))
        return;
    const QPointer<QAction> action = m_actions[static_cast<std::size_t>(item->data(kIndexRole).toInt())];
    accept(); // first: the command may open a window of its own
    if (action)
        action->trigger();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_field && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const int step = key == Qt::Key_Down       ? 1
                         : key == Qt::Key_Up       ? -1
                         : key == Qt::Key_PageDown ? kMostRows
                         : key == Qt::Key_PageUp   ? -kMostRows
                                                   : 0;
        if (step != 0) {
            m_list->setCurrentRow(std::clamp(m_list->currentRow() + step, 0, std::max(m_list->count() - 1, 0)));
            return true;
        }
    }
    if (watched == m_field && event->type() == QEvent::FocusOut &&
        static_cast<QFocusEvent*>(event)->reason() == Qt::ActiveWindowFocusReason)
        reject(); // a click elsewhere
    return QDialog::eventFilter(watched, event);
}

} // namespace loadline
