// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/chart_table.hpp"

#include <QColor>
#include <QWidget>

#include <functional>
#include <vector>

namespace loadline {

struct Palette;

/// One line of bars: a name, up to two values end to end, a mark to compare with, and words at the right.
struct BarRow {
    QString name;
    double first = 0;
    double second = 0;
    double mark = -1;       ///< on the same scale; below 0: none
    bool estimated = false; ///< hatched
    int mood = 0;           ///< of the words: 1 better, -1 worse
    QString value;          ///< at the right
    QString help;           ///< for the status bar and screen readers
};

/// Horizontal bars on one scale, a row each. Arrow keys walk the rows and say what they hold.
class BarRows : public QWidget, public TableSource {
    Q_OBJECT
public:
    using Color = std::function<QColor(const Palette&)>; ///< asked at each painting, so that a theme change needs no call

    explicit BarRows(QWidget* parent = nullptr);

    void setRows(std::vector<BarRow> rows);
    void setColors(Color first, Color second);
    /// Shown while there are no rows.
    void setEmptyWords(const QString& words);

    [[nodiscard]] const std::vector<BarRow>& rows() const { return m_rows; }
    /// Value at the right end of the bars.
    [[nodiscard]] double scale() const { return m_most; }
    [[nodiscard]] QRectF barRect(std::size_t row) const;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] ChartTable table() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void hovered(const QString& words);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void look(int row);
    [[nodiscard]] int nameWidth() const;
    [[nodiscard]] int valueWidth() const;

    std::vector<BarRow> m_rows;
    Color m_first;
    Color m_second;
    QString m_empty;
    double m_most = 0;
    int m_looked = -1;
    int m_nameWidth = 0;  ///< of the longest
    int m_valueWidth = 0; ///< likewise
};

} // namespace loadline
