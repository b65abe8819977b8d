// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/budget_handle.hpp"

#include "views/format/text.hpp"
#include "views/palette.hpp"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

constexpr int kHalf = 12; ///< pixels to each side of the line that take the mouse
constexpr int kTagHeight = 20;
constexpr double kRest = 6;   ///< pixels within which the line rests at a limit or a step
constexpr double kApart = 18; ///< pixels between steps at which it rests
constexpr double kFine = 0.1; ///< Shift: so much of the mouse's way
constexpr std::int64_t kTenths = 10;
constexpr std::int64_t kHundredths = 100;

} // namespace

BudgetHandle::BudgetHandle(Qt::Orientation line, QWidget* chart) : QWidget(chart), m_line(line)
{
    setFocusPolicy(Qt::StrongFocus);
    setCursor(line == Qt::Horizontal ? Qt::SplitVCursor : Qt::SplitHCursor);
    setAccessibleName(tr("Memory budget"));
    setToolTip(tr("Drag, or use the arrow keys. Shift moves finely, Esc goes back, a double click types a value."));
}

void BudgetHandle::setScale(const ByteScale& scale)
{
    if (scale == m_scale)
        return;
    m_scale = scale;
    place();
}

void BudgetHandle::setBudget(Bytes budget)
{
    if (budget == m_budget)
        return;
    m_budget = budget;
    setAccessibleDescription(tagText());
    place();
}

void BudgetHandle::setLimits(Bytes least, Bytes device)
{
    m_least = least;
    m_device = device;
}

void BudgetHandle::setDetents(std::vector<Bytes> detents)
{
    m_detents = std::move(detents);
}

/// A detent within reach whose neighbours are so far away that the line can also be put between them. It is rounded up to a hundredth of a
/// GiB, so that the tag says what `--budget` reads.
std::optional<Bytes> BudgetHandle::detentAt(double bytes) const
{
    const auto after = std::lower_bound(m_detents.begin(), m_detents.end(), Bytes(static_cast<std::int64_t>(std::max(bytes, 0.0))));
    std::optional<Bytes> found;
    for (const auto candidate : {after, after == m_detents.begin() ? m_detents.end() : after - 1}) {
        if (candidate == m_detents.end() || std::abs(m_scale.pixel(*candidate) - (m_scale.origin + bytes * m_scale.pixelsPerByte)) >= kRest)
            continue;
        const auto apart = [&](auto neighbour) { return std::abs(m_scale.pixel(*neighbour) - m_scale.pixel(*candidate)) >= kApart; };
        const bool left = candidate == m_detents.begin() || apart(candidate - 1);
        const bool right = candidate + 1 == m_detents.end() || apart(candidate + 1);
        if (left && right)
            found = *candidate;
    }
    if (!found)
        return std::nullopt;
    return fractionOfGib(ceilDiv(found->count() * kHundredths, std::int64_t{1} << 30), kHundredths);
}

void BudgetHandle::setProblem(const QString& problem)
{
    if (problem == m_problem)
        return;
    m_problem = problem;
    setAccessibleDescription(tagText());
    update();
}

void BudgetHandle::setDot(double pixel)
{
    if (pixel == m_dot)
        return;
    m_dot = pixel;
    update();
}

void BudgetHandle::place()
{
    const double at = m_scale.pixel(m_budget);
    const QRect& area = m_scale.area;
    if (area.isEmpty())
        return;
    // A budget beyond the axis keeps its line at the edge; the tag then shows an arrow.
    if (horizontal()) {
        const int y = static_cast<int>(std::lround(std::clamp(at, double(area.top()), double(area.bottom() + 1))));
        setGeometry(area.left(), y - kHalf, area.width(), 2 * kHalf);
    } else {
        const int x = static_cast<int>(std::lround(std::clamp(at, double(area.left()), double(area.right() + 1))));
        setGeometry(x - kHalf, area.top(), 2 * kHalf, area.height());
    }
    update();
}

QString BudgetHandle::tagText() const
{
    if (!m_problem.isEmpty())
        return m_problem;
    const std::int64_t hundredths = (m_budget.count() * kHundredths + (1LL << 29)) >> 30;
    return tr("%1 GiB").arg(gibText(m_budget, hundredths % kTenths == 0 ? 1 : 2));
}

QRect BudgetHandle::tagRect() const
{
    const QFontMetrics metrics(fontOf(12, true));
    const int width = metrics.horizontalAdvance(QStringLiteral("\u2195 ") + tagText()) + 22;
    return {this->width() - width, (height() - kTagHeight) / 2, width, kTagHeight};
}

QPoint BudgetHandle::grip() const
{
    return geometry().center();
}

void BudgetHandle::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintLine(painter);
    if (horizontal())
        paintTag(painter);
    else
        paintDot(painter);
}

void BudgetHandle::paintLine(QPainter& painter) const
{
    const Palette& colors = currentPalette();
    const bool problem = !m_problem.isEmpty();
    QPen pen(problem ? colors.worse : colors.budget, 2, problem ? Qt::CustomDashLine : Qt::SolidLine, Qt::FlatCap);
    if (problem)
        pen.setDashPattern({4, 2});
    painter.setPen(pen);
    if (horizontal())
        painter.drawLine(0, kHalf, width(), kHalf);
    else
        painter.drawLine(kHalf, 0, kHalf, height());
}

void BudgetHandle::paintTag(QPainter& painter) const
{
    const Palette& colors = currentPalette();
    const bool problem = !m_problem.isEmpty();
    QRectF tag = tagRect();
    if (m_dragging || m_hovered)
        tag.adjust(-2, -1, 0, 1);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(hasFocus() ? QPen(colors.text, 1.5) : QPen(Qt::NoPen));
    painter.setBrush(problem ? colors.worse : colors.budget);
    painter.drawRoundedRect(tag.adjusted(0.75, 0.75, -0.75, -0.75), 10, 10);
    painter.setPen(problem && !colors.dark ? Qt::white : colors.onBudget);
    painter.setFont(fontOf(12, true));
    const bool beyond = m_scale.pixel(m_budget) < m_scale.area.top() - 1;
    painter.drawText(tag, Qt::AlignCenter, (beyond ? QStringLiteral("\u2191 ") : QStringLiteral("\u2195 ")) + tagText());
}

void BudgetHandle::paintDot(QPainter& painter) const
{
    if (m_dot < 0 || !m_problem.isEmpty())
        return;
    const Palette& colors = currentPalette();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colors.panel, 1.5));
    painter.setBrush(colors.budget);
    const double radius = hasFocus() || m_hovered ? 6 : 5;
    painter.drawEllipse(QPointF(kHalf, m_dot - y()), radius, radius);
}

double BudgetHandle::along(const QPointF& global) const
{
    const QPointF point = parentWidget()->mapFromGlobal(global);
    return horizontal() ? point.y() : point.x();
}

Bytes BudgetHandle::rounded(double bytes, bool fine) const
{
    const std::int64_t perGib = fine ? kHundredths : kTenths;
    const double parts = std::round(std::max(bytes, 0.0) / double(1LL << 30) * double(perGib));
    return fractionOfGib(static_cast<std::int64_t>(std::min(parts, 1e9)), perGib);
}

Bytes BudgetHandle::rested(double bytes, Qt::KeyboardModifiers modifiers) const
{
    const Bytes most = std::max(m_device, m_before);
    const bool fine = modifiers.testFlag(Qt::ShiftModifier);
    if (!fine && !modifiers.testFlag(Qt::ControlModifier)) {
        for (const Bytes limit : {m_least, m_device}) {
            if (limit > Bytes() && std::abs(m_scale.pixel(limit) - m_scale.pixel(Bytes(static_cast<std::int64_t>(bytes)))) < kRest)
                return limit;
        }
        if (const auto detent = detentAt(bytes))
            return std::min(*detent, most);
    }
    return std::min(rounded(bytes, fine), most);
}

void BudgetHandle::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton) {
        event->ignore();
        return;
    }
    m_dragging = true;
    m_before = m_budget;
    m_fine = event->modifiers().testFlag(Qt::ShiftModifier);
    m_anchorPixel = along(event->globalPosition());
    // A line that waits at the edge for a budget beyond the axis starts from where the hand is.
    const double shown = horizontal() ? y() + kHalf : x() + kHalf;
    m_anchorBytes = std::abs(shown - m_scale.pixel(m_budget)) > 1 ? m_scale.bytes(shown) : double(m_budget.count());
    update();
    emit grabbed();
}

void BudgetHandle::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_dragging)
        return;
    const double now = along(event->globalPosition());
    const bool fine = event->modifiers().testFlag(Qt::ShiftModifier);
    const double bytes = m_anchorBytes + (now - m_anchorPixel) / m_scale.pixelsPerByte * (m_fine ? kFine : 1);
    if (fine != m_fine) {
        m_anchorBytes = bytes;
        m_anchorPixel = now;
        m_fine = fine;
    }
    const Bytes budget = rested(bytes, event->modifiers());
    if (budget == m_budget)
        return;
    setBudget(budget);
    emit moved(budget);
}

void BudgetHandle::mouseReleaseEvent(QMouseEvent* event)
{
    if (!m_dragging || event->button() != Qt::LeftButton)
        return;
    m_dragging = false;
    update();
    emit released(m_budget);
}

void BudgetHandle::mouseDoubleClickEvent(QMouseEvent* event)
{
    m_dragging = false;
    if (horizontal() && tagRect().adjusted(-4, -4, 4, 4).contains(event->pos()))
        openEditor();
}

Bytes BudgetHandle::stepFrom(Bytes budget, int hundredths) const
{
    const std::int64_t now = (budget.count() * kHundredths + (1LL << 29)) >> 30;
    return std::min(fractionOfGib(std::max<std::int64_t>(now + hundredths, 0), kHundredths), std::max(m_device, budget));
}

void BudgetHandle::keyPressEvent(QKeyEvent* event)
{
    const int small = event->modifiers().testFlag(Qt::ShiftModifier) ? 1 : 10;
    Bytes budget = m_budget;
    switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Right:
        budget = stepFrom(m_budget, small);
        break;
    case Qt::Key_Down:
    case Qt::Key_Left:
        budget = stepFrom(m_budget, -small);
        break;
    case Qt::Key_PageUp:
        budget = stepFrom(m_budget, 100);
        break;
    case Qt::Key_PageDown:
        budget = stepFrom(m_budget, -100);
        break;
    case Qt::Key_Home:
        budget = m_least;
        break;
    case Qt::Key_End:
        budget = m_device;
        break;
    case Qt::Key_Escape:
        if (!m_dragging)
            return QWidget::keyPressEvent(event);
        m_dragging = false;
        setBudget(m_before);
        update();
        emit cancelled(m_before);
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (horizontal())
            openEditor();
        return;
    default:
        return QWidget::keyPressEvent(event);
    }
    if (m_dragging || budget == m_budget)
        return;
    setBudget(budget);
    emit stepped(budget, event->isAutoRepeat());
}

void BudgetHandle::wheelEvent(QWheelEvent* event)
{
    const int notches = event->angleDelta().y() / 120;
    if (notches == 0 || m_dragging || !horizontal() || !tagRect().contains(event->position().toPoint())) {
        event->ignore();
        return;
    }
    event->accept();
    const Bytes budget = stepFrom(m_budget, notches);
    if (budget == m_budget)
        return;
    setBudget(budget);
    emit stepped(budget, true);
}

void BudgetHandle::enterEvent(QEnterEvent* event)
{
    m_hovered = true;
    update();
    QWidget::enterEvent(event);
}

void BudgetHandle::leaveEvent(QEvent* event)
{
    m_hovered = false;
    update();
    QWidget::leaveEvent(event);
}

void BudgetHandle::openEditor()
{
    if (!m_editor) {
        m_editor = new QLineEdit(parentWidget());
        m_editor->setObjectName(QStringLiteral("budgetEditor"));
        m_editor->setAccessibleName(tr("Memory budget, for example 72, 72000 MiB or 90%"));
        m_editor->setAlignment(Qt::AlignCenter);
        connect(m_editor, &QLineEdit::returnPressed, this, &BudgetHandle::acceptEditor);
        connect(m_editor, &QLineEdit::editingFinished, m_editor, [editor = m_editor] {
            if (!editor->hasFocus()) // Return alone leaves it open, so that a mistyped value can be mended
                editor->hide();
        });
        auto* leave = new QAction(m_editor);
        leave->setShortcut(Qt::Key_Escape);
        leave->setShortcutContext(Qt::WidgetShortcut);
        connect(leave, &QAction::triggered, m_editor, &QWidget::hide);
        m_editor->addAction(leave);
    }
    const QRect tag = tagRect().translated(pos());
    m_editor->setGeometry(tag.right() - 110, tag.center().y() - 13, 110, 26);
    m_editor->setText(tagText().section(QLatin1Char(' '), 0, 0));
    if (!m_problem.isEmpty())
        m_editor->setText(gibText(m_budget, 2));
    m_editor->selectAll();
    m_editor->show();
    m_editor->raise();
    m_editor->setFocus();
}

void BudgetHandle::acceptEditor()
{
    const Result<Bytes> typed = readBudget(m_editor->text(), m_device);
    if (!typed) {
        m_editor->setToolTip(text(typed.error().message));
        m_editor->selectAll();
        return;
    }
    m_editor->hide();
    setFocus();
    if (*typed == m_budget)
        return;
    setBudget(*typed);
    emit stepped(*typed, false);
}

} // namespace loadline
