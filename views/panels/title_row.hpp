// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QWidget>

#include <functional>
#include <vector>

namespace loadline {

struct Palette;

/// Title of a chart or panel: name, soft unit, legend in the same row, and a note at the right end.
class TitleRow : public QWidget {
    Q_OBJECT
public:
    struct Item {
        QString words;
        std::function<QColor(const Palette&)> color; ///< asked at each painting, so that a theme change needs no call
    };
    TitleRow(const QString& title, const QString& unit, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setUnit(const QString& unit);
    void setNote(const QString& note);
    void setLegend(std::vector<Item> items);
    /// Where text begins, to stand above a chart's data.
    void setIndent(int pixels);

    [[nodiscard]] QString note() const { return m_note; }
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent*) override;

private:
    QString m_title;
    QString m_unit;
    QString m_note;
    std::vector<Item> m_items;
    int m_indent = 12;
};

} // namespace loadline
