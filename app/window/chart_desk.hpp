// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"

#include <QObject>
#include <QPointer>

#include <memory>
#include <vector>

class QMenu;
class QWidget;

namespace loadline {

/// What can be done with every chart: right click, the menu key, or Chart in the menus for the chart that had the keyboard last. Fit,
/// copy as picture, export as PNG, SVG, PDF or CSV, and the same figures as a table.
class ChartDesk : public QObject {
    Q_OBJECT
public:
    enum class Form { Png, Svg, Pdf, Csv };

    explicit ChartDesk(QWidget* window);

    /// Everything below the window that says what it shows as rows; call it once all pages are there.
    void addAll();
    [[nodiscard]] const std::vector<QWidget*>& charts() const { return m_charts; }
    /// The chart that had the keyboard or the menu last; the first one before that.
    [[nodiscard]] QWidget* current() const;

    [[nodiscard]] std::unique_ptr<QMenu> menuOf(QWidget* chart);
    [[nodiscard]] static QByteArray bytesOf(QWidget* chart, Form form);
    /// Whole or not at all. Errors name the file.
    static Result<bool> write(QWidget* chart, Form form, const QString& file);

    void fit(QWidget* chart);
    void copy(QWidget* chart);
    void showTable(QWidget* chart);
    /// Asks for the file.
    void save(QWidget* chart, Form form);

signals:
    void said(const QString& words);
    void failed(const QString& sentence);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* m_window;
    std::vector<QWidget*> m_charts;
    QPointer<QWidget> m_current;
};

} // namespace loadline
