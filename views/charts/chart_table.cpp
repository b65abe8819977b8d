// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/chart_table.hpp"

#include "views/charts/plot.hpp"

#include <QBuffer>
#include <QPdfWriter>
#include <QSvgGenerator>

namespace loadline {
namespace {

QString quoted(QString cell)
{
    if (!cell.contains(QLatin1Char(',')) && !cell.contains(QLatin1Char('"')) && !cell.contains(QLatin1Char('\n')))
        return cell;
    return QLatin1Char('"') + cell.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
}

/// Everything of `widget` as vectors. A plot paints itself from a buffer of pixels when it is rendered like other widgets, so it is asked
/// to draw anew; what lies on it is drawn over it.
void paintVectors(QWidget& widget, QCPPainter& painter)
{
    if (auto* plot = qobject_cast<QCustomPlot*>(&widget))
        plot->toPainter(&painter, plot->width(), plot->height());
    else
        widget.render(&painter, QPoint(), QRegion(), QWidget::DrawWindowBackground);
    for (QObject* object : widget.children()) {
        auto* child = qobject_cast<QWidget*>(object);
        if (child == nullptr || child->isWindow() || !child->isVisibleTo(&widget) || child->property(kScreenOnly).toBool())
            continue;
        painter.save();
        painter.translate(child->pos());
        paintVectors(*child, painter);
        painter.restore();
    }
}

} // namespace

QByteArray csvOf(const ChartTable& table)
{
    QByteArray out;
    const auto line = [&](const QStringList& cells) {
        QStringList quotedCells;
        for (const QString& cell : cells)
            quotedCells << quoted(cell);
        out += quotedCells.join(QLatin1Char(',')).toUtf8() + "\r\n";
    };
    line(table.columns);
    for (const QStringList& row : table.rows)
        line(row);
    return out;
}

QByteArray pngOf(QWidget& widget)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    std::vector<QWidget*> hidden;
    for (QWidget* child : widget.findChildren<QWidget*>()) {
        if (child->property(kScreenOnly).toBool() && child->isVisibleTo(&widget)) {
            child->hide();
            hidden.push_back(child);
        }
    }
    widget.grab().save(&buffer, "PNG");
    for (QWidget* child : hidden)
        child->show();
    return bytes;
}

QByteArray svgOf(QWidget& widget, const QString& title)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(widget.size());
    generator.setViewBox(widget.rect());
    generator.setTitle(title);
    QCPPainter painter(&generator);
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    paintVectors(widget, painter);
    painter.end();
    return bytes;
}

QByteArray pdfOf(QWidget& widget, const QString& title)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setTitle(title);
    writer.setResolution(72); // one unit a pixel
    writer.setPageSize(QPageSize(QSizeF(widget.size()), QPageSize::Point));
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));
    QCPPainter painter(&writer);
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    paintVectors(widget, painter);
    painter.end();
    return bytes;
}

} // namespace loadline
