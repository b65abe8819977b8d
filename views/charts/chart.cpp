// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/chart.hpp"

#include "views/charts/crosshair.hpp"
#include "views/charts/plot.hpp"
#include "views/charts/value_tag.hpp"
#include "views/palette.hpp"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QVBoxLayout>
#include <QVariantAnimation>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

namespace loadline {

namespace {

constexpr int kSettling = 120; ///< ms
bool reducedMotion = true;
constexpr double kZoomStep = 0.8;          ///< of what is shown, a notch of the wheel
constexpr double kLeastShare = 1.0 / 4096; ///< of the whole: no nearer
constexpr double kNotch = 120;             ///< Qt: eighths of a degree of a common wheel

} // namespace

void Chart::setReducedMotion(bool reduced)
{
    reducedMotion = reduced;
}

Chart::Chart(QWidget* parent)
    : QWidget(parent), m_plot(new QCustomPlot(this)), m_veil(new Veil(m_plot)), m_ring(new FocusRing(this)), m_tag(new ValueTag(m_plot))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_plot);
    m_plot->setMinimumSize(60, 40);
    m_plot->setNoAntialiasingOnDrag(true);
    m_plot->setInteractions(QCP::Interactions());
    m_plot->axisRect()->setAutoMargins(QCP::msNone);
    m_plot->axisRect()->setMargins(QMargins(kChartLeft, 6, kChartRight, 20));
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setTickLength(0, 0);
        axis->setSubTicks(false);
        axis->setTickLabelPadding(6);
        axis->grid()->setSubGridVisible(false);
        axis->grid()->setZeroLinePen(Qt::NoPen);
        axis->setBasePen(Qt::NoPen);
        axis->setTickPen(Qt::NoPen);
    }
    m_plot->xAxis->grid()->setVisible(false);
    m_plot->setAttribute(Qt::WA_NoMousePropagation, false); // a right click is for the chart's menu
    m_plot->installEventFilter(this);
    setFocusPolicy(Qt::StrongFocus);
    connect(this, &Chart::hovered, this, [this](const QString& words) { m_words = words; });
    connect(m_plot, &QCustomPlot::afterReplot, this, [this] { ++m_replots; });
    Chart::restyle();
}

QRect Chart::dataArea() const
{
    return m_plot->axisRect()->rect();
}

void Chart::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        restyle();
        replotSoon();
    }
}

void Chart::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    layout()->activate();
    m_plot->axisRect()->update(QCPLayoutElement::upLayout);
    m_plot->plotLayout()->update(QCPLayoutElement::upPreparation);
    m_ring->setGeometry(rect());
    m_ring->raise();
    m_tag->forget(); // it stood at a value of the old scale
    arrange();
}

bool Chart::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_plot) {
        if (event->type() == QEvent::Wheel && zoomable()) {
            auto* wheel = static_cast<QWheelEvent*>(event);
            if (dataArea().contains(wheel->position().toPoint()) && wheel->angleDelta().y() != 0) {
                zoomAt(wheel->position().toPoint().x(), std::pow(kZoomStep, wheel->angleDelta().y() / kNotch));
                return true;
            }
        }
        if ((event->type() == QEvent::MouseButtonPress || event->type() == QEvent::MouseButtonRelease ||
             event->type() == QEvent::MouseMove) &&
            mouse(static_cast<QMouseEvent*>(event)))
            return true;
        if (event->type() == QEvent::MouseMove) {
            const QPoint point = static_cast<QMouseEvent*>(event)->pos();
            const bool inside = dataArea().contains(point);
            hoverAt(inside ? &point : nullptr);
        } else if (event->type() == QEvent::Leave) {
            hoverAt(nullptr);
        } else if (event->type() == QEvent::Resize) {
            // The plot lays itself out in its own handler, which runs after this filter.
            QMetaObject::invokeMethod(
                this, [this] { arrange(); }, Qt::QueuedConnection);
        }
    }
    return QWidget::eventFilter(watched, event);
}

void Chart::restyle()
{
    const Palette& colors = currentPalette();
    m_plot->setBackground(QBrush(colors.panel));
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setTickLabelFont(fontOf(10.5));
        axis->setTickLabelColor(colors.softText);
        axis->grid()->setPen(QPen(colors.line, 1));
    }
}

void Chart::hoverAt(const QPoint*) {}

bool Chart::mouse(QMouseEvent* event)
{
    const QPoint point = event->pos();
    if (event->type() == QEvent::MouseButtonPress && event->button() == Qt::LeftButton && dataArea().contains(point)) {
        m_pressed = point;
        m_pressedLower = m_plot->xAxis->range().lower;
        m_pressedUpper = m_plot->xAxis->range().upper;
        m_moving = false;
    } else if (event->type() == QEvent::MouseMove && m_pressed && event->buttons().testFlag(Qt::LeftButton)) {
        m_moving = m_moving || (point - *m_pressed).manhattanLength() >= QApplication::startDragDistance();
        if (m_moving && zoomable()) {
            moveTo(point);
            return true;
        }
    } else if (event->type() == QEvent::MouseButtonRelease && event->button() == Qt::LeftButton && m_pressed) {
        m_pressed.reset();
        if (!std::exchange(m_moving, false))
            pinAt(point);
    }
    return false;
}

void Chart::moveTo(QPoint point)
{
    const QCPAxis& axis = *m_plot->xAxis;
    const double width = std::max(dataArea().width(), 1);
    const double share = (m_pressed->x() - point.x()) / width;
    if (axis.scaleType() == QCPAxis::stLogarithmic) {
        const double factor = std::pow(m_pressedUpper / m_pressedLower, share);
        const double kept = std::clamp(factor, m_homeLower / m_pressedLower, m_homeUpper / m_pressedUpper);
        showPart(m_pressedLower * kept, m_pressedUpper * kept);
        return;
    }
    const double by = std::clamp((m_pressedUpper - m_pressedLower) * share, m_homeLower - m_pressedLower, m_homeUpper - m_pressedUpper);
    showPart(m_pressedLower + by, m_pressedUpper + by);
}

void Chart::pinAt(QPoint point)
{
    hoverAt(&point);
    if (m_words.isEmpty() || !m_tag->words().isEmpty())
        m_tag->forget();
    else
        m_tag->showAt(point, m_words, dataArea());
}

QString Chart::pinnedWords() const
{
    return m_tag->words();
}

void Chart::setHome(double lower, double upper)
{
    const bool logarithmic = m_plot->xAxis->scaleType() == QCPAxis::stLogarithmic;
    const bool same = lower == m_homeLower && upper == m_homeUpper;
    const QCPRange shown = m_plot->xAxis->range();
    const double size = m_homeUpper - m_homeLower;
    const double from = size > 0 ? (shown.lower - m_homeLower) / size : 0;
    const double to = size > 0 ? (shown.upper - m_homeLower) / size : 1;
    m_homeLower = lower;
    m_homeUpper = upper;
    if (m_zoomed && same)
        return;
    if (!m_zoomed || logarithmic) {
        m_zoomed = false;
        m_plot->xAxis->setRange(lower, upper);
    } else {
        m_plot->xAxis->setRange(lower + from * (upper - lower), lower + to * (upper - lower));
    }
    emit shownChanged(m_plot->xAxis->range().lower, m_plot->xAxis->range().upper);
}

void Chart::showPart(double lower, double upper)
{
    m_tag->forget();
    lower = std::max(lower, m_homeLower);
    upper = std::min(upper, m_homeUpper);
    m_zoomed = lower > m_homeLower || upper < m_homeUpper;
    m_plot->xAxis->setRange(lower, upper);
    arrange();
    replotSoon();
    emit shownChanged(lower, upper);
}

void Chart::showAll()
{
    if (zoomable())
        showPart(m_homeLower, m_homeUpper);
}

void Chart::zoomAt(int x, double factor)
{
    if (!zoomable())
        return;
    const QCPRange shown = m_plot->xAxis->range();
    const double at = m_plot->xAxis->pixelToCoord(x);
    if (m_plot->xAxis->scaleType() == QCPAxis::stLogarithmic) {
        showPart(at * std::pow(shown.lower / at, factor), at * std::pow(shown.upper / at, factor));
        return;
    }
    const double most = m_homeUpper - m_homeLower;
    const double size = std::clamp(shown.size() * factor, most * kLeastShare, most);
    const double lower = std::clamp(at - (at - shown.lower) * size / shown.size(), m_homeLower, std::max(m_homeLower, m_homeUpper - size));
    showPart(lower, lower + size);
}

void Chart::keyPressEvent(QKeyEvent* event)
{
    const QRect area = dataArea();
    const auto pan = [&](int share) {
        m_pressedLower = m_plot->xAxis->range().lower;
        m_pressedUpper = m_plot->xAxis->range().upper;
        m_pressed = area.center();
        moveTo(area.center() + QPoint(share * area.width() / 8, 0));
        m_pressed.reset();
    };
    switch (event->key()) {
    case Qt::Key_F:
        showAll();
        return;
    case Qt::Key_Escape:
        if (m_tag->words().isEmpty())
            break;
        m_tag->forget();
        return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoomAt(area.center().x(), kZoomStep);
        return;
    case Qt::Key_Minus:
        zoomAt(area.center().x(), 1 / kZoomStep);
        return;
    case Qt::Key_Left:
    case Qt::Key_Right:
        if (!zoomable())
            break;
        pan(event->key() == Qt::Key_Left ? 1 : -1);
        return;
    default:
        break;
    }
    QWidget::keyPressEvent(event);
}

void Chart::focusInEvent(QFocusEvent* event)
{
    QWidget::focusInEvent(event);
    m_ring->setVisible(event->reason() != Qt::MouseFocusReason);
    m_ring->raise();
}

void Chart::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    m_ring->hide();
}

void Chart::setVeiled(bool veiled)
{
    m_veil->setGeometry(dataArea());
    m_veil->setVisible(veiled);
}

bool Chart::veiled() const
{
    return !m_veil->isHidden();
}

void Chart::settleUpper(QCPAxis* axis, double upper)
{
    if (m_settling != nullptr)
        m_settling->stop();
    if (reducedMotion || !isVisible() || axis->range().size() <= 0) {
        axis->setRangeUpper(upper);
        return;
    }
    if (m_settling == nullptr) {
        m_settling = new QVariantAnimation(this);
        m_settling->setDuration(kSettling);
        m_settling->setEasingCurve(QEasingCurve::OutCubic);
    }
    m_settling->disconnect(this);
    m_settling->setStartValue(axis->range().upper);
    m_settling->setEndValue(upper);
    connect(m_settling, &QVariantAnimation::valueChanged, this, [this, axis](const QVariant& value) {
        axis->setRangeUpper(value.toDouble());
        arrange();
        replotSoon();
    });
    m_settling->start();
}

void Chart::finishSettling()
{
    if (m_settling != nullptr && m_settling->state() == QAbstractAnimation::Running)
        m_settling->setCurrentTime(kSettling);
}

void Chart::replotSoon()
{
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

} // namespace loadline
