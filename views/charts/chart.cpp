// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/chart.hpp"

#include "views/charts/crosshair.hpp"
#include "views/charts/plot.hpp"
#include "views/palette.hpp"

#include <QEvent>
#include <QMouseEvent>
#include <QVBoxLayout>
#include <QVariantAnimation>

namespace loadline {

namespace {

constexpr int kSettling = 120; ///< ms
bool reducedMotion = true;

} // namespace

void Chart::setReducedMotion(bool reduced)
{
    reducedMotion = reduced;
}

Chart::Chart(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)), m_veil(new Veil(m_plot))
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
    m_plot->installEventFilter(this);
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
    arrange();
}

bool Chart::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_plot) {
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

void Chart::setVeiled(bool veiled)
{
    m_veil->setGeometry(dataArea());
    m_veil->setVisible(veiled);
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

void Chart::replotSoon()
{
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

} // namespace loadline
