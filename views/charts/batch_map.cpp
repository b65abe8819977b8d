// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/batch_map.hpp"

#include "views/charts/chart.hpp"
#include "views/format/text.hpp"
#include "views/palette.hpp"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

constexpr int kTop = 8;
constexpr int kBottom = 36;    ///< batch labels and the axis' name
constexpr double kWords = 44;  ///< pixels: narrower cells carry no figure
constexpr double kPale = 0.18; ///< strength of the slowest cell that fits

QColor mix(const QColor& a, const QColor& b, double share)
{
    const auto part = [&](int from, int to) { return static_cast<int>(std::lround(from + (to - from) * share)); };
    return {part(a.red(), b.red()), part(a.green(), b.green()), part(a.blue(), b.blue())};
}

} // namespace

BatchMap::BatchMap(QWidget* parent) : QWidget(parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(160, 90);
    setAccessibleName(tr("Throughput over batch and accumulation"));
}

QSize BatchMap::sizeHint() const
{
    return {320, 200};
}

void BatchMap::setSurface(std::shared_ptr<const BatchSurface> surface)
{
    m_surface = std::move(surface);
    m_cursor = best().value_or(Place());
    describe();
    update();
}

ChartTable BatchMap::table() const
{
    ChartTable table{{tr("batch"), tr("micro-steps"), tr("fits"), tr("samples/s"), tr("peak or need, bytes")}, {}};
    if (!m_surface)
        return table;
    for (const BatchCell& cell : m_surface->cells)
        table.rows.push_back({QString::number(cell.batch), QString::number(cell.accumulation), cell.fits ? tr("yes") : tr("no"),
                              exactText(cell.samplesPerSecond), QString::number(cell.peak.count())});
    return table;
}

void BatchMap::setShown(std::int64_t batch, std::int64_t accumulation)
{
    m_batch = batch;
    m_accumulation = accumulation;
    update();
}

void BatchMap::describe()
{
    const auto place = best();
    setAccessibleDescription(place ? tr("Best: %1").arg(words(m_surface->at(place->batch, place->accumulation))) : tr("nothing fits"));
}

QRectF BatchMap::area() const
{
    return QRectF(kChartLeft, kTop, std::max(width() - kChartLeft - kChartRight, 1), std::max(height() - kTop - kBottom, 1));
}

QRect BatchMap::cellRect(std::size_t batch, std::size_t accumulation) const
{
    if (!m_surface || m_surface->batches.empty())
        return {};
    const QRectF all = area();
    const auto edge = [](double from, double size, std::size_t index, std::size_t count) {
        return static_cast<int>(std::lround(from + size * double(index) / double(count)));
    };
    const std::size_t rows = m_surface->accumulations.size();
    const std::size_t columns = m_surface->batches.size();
    const int left = edge(all.left(), all.width(), batch, columns);
    const int right = edge(all.left(), all.width(), batch + 1, columns);
    const int top = edge(all.top(), all.height(), rows - 1 - accumulation, rows);
    const int bottom = edge(all.top(), all.height(), rows - accumulation, rows);
    return {left, top, right - left - 1, bottom - top - 1};
}

std::optional<BatchMap::Place> BatchMap::placeAt(QPointF point) const
{
    if (!m_surface)
        return std::nullopt;
    for (std::size_t b = 0; b < m_surface->batches.size(); ++b) {
        for (std::size_t a = 0; a < m_surface->accumulations.size(); ++a) {
            if (cellRect(b, a).adjusted(0, 0, 1, 1).contains(point.toPoint()))
                return Place{b, a};
        }
    }
    return std::nullopt;
}

std::optional<BatchMap::Place> BatchMap::best() const
{
    if (!m_surface)
        return std::nullopt;
    const auto& cells = m_surface->cells;
    const auto found = std::max_element(cells.begin(), cells.end(),
                                        [](const BatchCell& a, const BatchCell& b) { return a.samplesPerSecond < b.samplesPerSecond; });
    if (found == cells.end() || !found->fits)
        return std::nullopt;
    const auto index = static_cast<std::size_t>(found - cells.begin());
    return Place{index / m_surface->accumulations.size(), index % m_surface->accumulations.size()};
}

QString BatchMap::words(const BatchCell& cell) const
{
    const QString what = tr("batch %1, %2 micro-steps").arg(cell.batch).arg(cell.accumulation);
    return cell.fits ? tr("%1 \u00b7 %2 samples/s \u00b7 peak %3").arg(what, rateText(cell.samplesPerSecond), bytesText(cell.peak))
                     : tr("%1 \u00b7 does not fit, needs %2").arg(what, bytesText(cell.peak));
}

void BatchMap::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), currentPalette().panel);
    if (!m_surface || m_surface->cells.empty())
        return;
    double least = 0;
    double most = 0;
    for (const BatchCell& cell : m_surface->cells) {
        if (!cell.fits)
            continue;
        least = least > 0 ? std::min(least, cell.samplesPerSecond) : cell.samplesPerSecond;
        most = std::max(most, cell.samplesPerSecond);
    }
    for (std::size_t b = 0; b < m_surface->batches.size(); ++b) {
        for (std::size_t a = 0; a < m_surface->accumulations.size(); ++a)
            paintCell(painter, {b, a}, least, most);
    }
    paintEdge(painter);
    paintAxes(painter);
}

void BatchMap::paintCell(QPainter& painter, Place place, double least, double most) const
{
    const Palette& colors = currentPalette();
    const BatchCell& cell = m_surface->at(place.batch, place.accumulation);
    const QRect box = cellRect(place.batch, place.accumulation);
    QColor fill = colors.field;
    if (cell.fits) {
        const double share = most > least ? (cell.samplesPerSecond - least) / (most - least) : 1;
        fill = mix(colors.panel, colors.accent, kPale + (1 - kPale) * share);
        painter.fillRect(box, fill);
    } else {
        painter.fillRect(box, fill);
        painter.fillRect(box, QBrush(colors.worse, Qt::BDiagPattern)); // never by colour alone
    }
    if (cell.fits && box.width() >= kWords && box.height() >= 16) {
        const bool star = best() == place;
        painter.setFont(fontOf(10.5, star));
        painter.setPen(contrast(fill, colors.text) >= 4.5                      ? colors.text
                       : contrast(fill, Qt::white) > contrast(fill, Qt::black) ? QColor(Qt::white)
                                                                               : QColor(Qt::black));
        painter.drawText(box, Qt::AlignCenter, (star ? QStringLiteral("\u2605 ") : QString()) + rateText(cell.samplesPerSecond));
    }
    if (cell.batch == m_batch && cell.accumulation == m_accumulation) {
        painter.setPen(QPen(colors.budget, 2));
        painter.drawRect(QRectF(box).adjusted(1, 1, 0, 0));
    }
    if (hasFocus() && place == m_cursor) {
        painter.setPen(QPen(colors.text, 1, Qt::DotLine));
        painter.drawRect(QRectF(box).adjusted(3.5, 3.5, -2.5, -2.5));
    }
}

void BatchMap::paintEdge(QPainter& painter) const
{
    painter.setPen(QPen(currentPalette().worse, 2));
    for (std::size_t b = 0; b + 1 < m_surface->batches.size(); ++b) {
        for (std::size_t a = 0; a < m_surface->accumulations.size(); ++a) {
            if (m_surface->at(b, a).fits == m_surface->at(b + 1, a).fits)
                continue;
            const QRect box = cellRect(b, a);
            painter.drawLine(box.right() + 1, box.top(), box.right() + 1, box.bottom() + 1);
        }
    }
}

void BatchMap::paintAxes(QPainter& painter) const
{
    const Palette& colors = currentPalette();
    painter.setFont(fontOf(10.5));
    painter.setPen(colors.softText);
    for (std::size_t b = 0; b < m_surface->batches.size(); ++b) {
        const QRect box = cellRect(b, 0);
        painter.drawText(QRect(box.left() - 8, box.bottom() + 3, box.width() + 16, 14), Qt::AlignHCenter,
                         QString::number(m_surface->batches[b]));
    }
    for (std::size_t a = 0; a < m_surface->accumulations.size(); ++a) {
        const QRect box = cellRect(0, a);
        painter.drawText(QRect(0, box.top(), kChartLeft - 6, box.height()), Qt::AlignRight | Qt::AlignVCenter,
                         QStringLiteral("\u00d7") + QString::number(m_surface->accumulations[a]));
    }
    painter.drawText(QRect(kChartLeft, height() - 17, width() - kChartLeft - kChartRight, 14), Qt::AlignHCenter,
                     tr("sequences per GPU and micro-step; rows: micro-steps"));
}

void BatchMap::mouseMoveEvent(QMouseEvent* event)
{
    const auto place = placeAt(event->position());
    emit hovered(place ? words(m_surface->at(place->batch, place->accumulation)) : QString());
}

void BatchMap::leaveEvent(QEvent*)
{
    emit hovered({});
}

void BatchMap::mousePressEvent(QMouseEvent* event)
{
    if (const auto place = placeAt(event->position()); place && event->button() == Qt::LeftButton)
        choose(*place);
}

void BatchMap::choose(Place place)
{
    m_cursor = place;
    update();
    const BatchCell& cell = m_surface->at(place.batch, place.accumulation);
    emit cellChosen(cell.batch, cell.accumulation);
}

void BatchMap::keyPressEvent(QKeyEvent* event)
{
    if (!m_surface || m_surface->cells.empty())
        return QWidget::keyPressEvent(event);
    Place next = m_cursor;
    switch (event->key()) {
    case Qt::Key_Left:
        next.batch -= next.batch > 0 ? 1 : 0;
        break;
    case Qt::Key_Right:
        next.batch = std::min(next.batch + 1, m_surface->batches.size() - 1);
        break;
    case Qt::Key_Down:
        next.accumulation -= next.accumulation > 0 ? 1 : 0;
        break;
    case Qt::Key_Up:
        next.accumulation = std::min(next.accumulation + 1, m_surface->accumulations.size() - 1);
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
        return choose(m_cursor);
    default:
        return QWidget::keyPressEvent(event);
    }
    m_cursor = next;
    emit hovered(words(m_surface->at(next.batch, next.accumulation)));
    update();
}

void BatchMap::focusInEvent(QFocusEvent* event)
{
    QWidget::focusInEvent(event);
    update();
}

void BatchMap::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    update();
}

} // namespace loadline
