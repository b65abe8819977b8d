// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QStringList>

#include <vector>

class QWidget;

namespace loadline {

/// What a chart shows as rows: for screen readers, and for a spreadsheet. Figures are whole bytes and seconds with all their digits.
struct ChartTable {
    QStringList columns; ///< with units
    std::vector<QStringList> rows;
};

/// A chart that can say what it shows.
class TableSource {
public:
    TableSource() = default;
    TableSource(const TableSource&) = delete;
    TableSource& operator=(const TableSource&) = delete;
    virtual ~TableSource() = default;
    [[nodiscard]] virtual ChartTable table() const = 0;
};

/// Children of a chart with this property set are for the eye on the screen alone (a focus ring): no picture holds them.
inline constexpr char kScreenOnly[] = "screenOnly";

/// RFC 4180: comma, quotes where needed, lines end in CRLF; UTF-8.
QByteArray csvOf(const ChartTable& table);

// A widget as a picture. SVG and PDF hold vectors and text, of charts as of painted widgets, with all that lies on top of them.
QByteArray pngOf(QWidget& widget);
QByteArray svgOf(QWidget& widget, const QString& title);
QByteArray pdfOf(QWidget& widget, const QString& title);

} // namespace loadline
