// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/chart_desk.hpp"

#include "app/session/documents.hpp"
#include "views/charts/chart.hpp"
#include "views/charts/chart_table.hpp"
#include "views/panels/table_twin.hpp"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QMenu>

#include <algorithm>
#include <array>

namespace loadline {
namespace {

struct FormWords {
    ChartDesk::Form form;
    const char* name;
    const char* suffix;
};
constexpr std::array kForms{FormWords{ChartDesk::Form::Png, "PNG", "png"}, FormWords{ChartDesk::Form::Svg, "SVG", "svg"},
                            FormWords{ChartDesk::Form::Pdf, "PDF", "pdf"}, FormWords{ChartDesk::Form::Csv, "CSV", "csv"}};

const FormWords& wordsOf(ChartDesk::Form form)
{
    return kForms[static_cast<std::size_t>(form)];
}

QString titleOf(const QWidget* chart)
{
    return chart->accessibleName().isEmpty() ? ChartDesk::tr("Chart") : chart->accessibleName();
}

/// The title as a file name: small letters, no spaces.
QString fileNameOf(const QWidget* chart)
{
    QString name;
    for (const QChar c : titleOf(chart).toLower())
        name += c.isLetterOrNumber() ? c : QLatin1Char('-');
    return name;
}

} // namespace

ChartDesk::ChartDesk(QWidget* window) : QObject(window), m_window(window) {}

void ChartDesk::addAll()
{
    for (QWidget* widget : m_window->findChildren<QWidget*>()) {
        if (dynamic_cast<TableSource*>(widget) == nullptr || std::find(m_charts.begin(), m_charts.end(), widget) != m_charts.end())
            continue;
        m_charts.push_back(widget);
        widget->installEventFilter(this);
        if (widget->focusPolicy() == Qt::NoFocus)
            widget->setFocusPolicy(Qt::StrongFocus); // its menu has to be reached without a mouse
    }
}

QWidget* ChartDesk::current() const
{
    if (m_current && m_current->isVisible())
        return m_current;
    const auto seen = std::find_if(m_charts.begin(), m_charts.end(), [](const QWidget* chart) { return chart->isVisible(); });
    return seen == m_charts.end() ? nullptr : *seen;
}

bool ChartDesk::eventFilter(QObject* watched, QEvent* event)
{
    auto* chart = static_cast<QWidget*>(watched);
    if (event->type() == QEvent::FocusIn)
        m_current = chart;
    if (event->type() != QEvent::ContextMenu)
        return QObject::eventFilter(watched, event);
    m_current = chart;
    const auto* asked = static_cast<QContextMenuEvent*>(event);
    const bool byKey = asked->reason() == QContextMenuEvent::Keyboard;
    const auto menu = menuOf(chart);
    menu->exec(byKey ? chart->mapToGlobal(chart->rect().center()) : asked->globalPos());
    return true;
}

std::unique_ptr<QMenu> ChartDesk::menuOf(QWidget* chart)
{
    auto menu = std::make_unique<QMenu>(m_window);
    menu->setAccessibleName(titleOf(chart));
    if (qobject_cast<Chart*>(chart) != nullptr)
        connect(menu->addAction(tr("Fit\tF")), &QAction::triggered, this, [this, chart] { fit(chart); });
    connect(menu->addAction(tr("Copy as picture")), &QAction::triggered, this, [this, chart] { copy(chart); });
    connect(menu->addAction(tr("Show as table")), &QAction::triggered, this, [this, chart] { showTable(chart); });
    menu->addSeparator();
    for (const FormWords& words : kForms)
        connect(menu->addAction(tr("Export as %1\u2026").arg(QLatin1String(words.name))), &QAction::triggered, this,
                [this, chart, form = words.form] { save(chart, form); });
    return menu;
}

QByteArray ChartDesk::bytesOf(QWidget* chart, Form form)
{
    switch (form) {
    case Form::Png:
        return pngOf(*chart);
    case Form::Svg:
        return svgOf(*chart, titleOf(chart));
    case Form::Pdf:
        return pdfOf(*chart, titleOf(chart));
    case Form::Csv:
        break;
    }
    return csvOf(dynamic_cast<TableSource&>(*chart).table());
}

Result<bool> ChartDesk::write(QWidget* chart, Form form, const QString& file)
{
    return writeWhole(file, bytesOf(chart, form).toStdString());
}

void ChartDesk::fit(QWidget* chart)
{
    if (auto* plotted = qobject_cast<Chart*>(chart))
        plotted->showAll();
}

void ChartDesk::copy(QWidget* chart)
{
    QApplication::clipboard()->setImage(QImage::fromData(pngOf(*chart), "PNG"));
    emit said(tr("Copied: %1").arg(titleOf(chart)));
}

void ChartDesk::showTable(QWidget* chart)
{
    auto* twin = new TableTwin(titleOf(chart), dynamic_cast<TableSource&>(*chart).table(), m_window);
    twin->setAttribute(Qt::WA_DeleteOnClose);
    connect(twin, &TableTwin::copied, this, [](const QString& text) { QApplication::clipboard()->setText(text); });
    twin->show();
}

void ChartDesk::save(QWidget* chart, Form form)
{
    const FormWords& words = wordsOf(form);
    const QString suffix = QLatin1String(words.suffix);
    QString file =
        QFileDialog::getSaveFileName(m_window, tr("Export %1").arg(titleOf(chart)), fileNameOf(chart) + QLatin1Char('.') + suffix,
                                     tr("%1 files (*.%2)").arg(QLatin1String(words.name), suffix));
    if (file.isEmpty())
        return;
    if (!file.endsWith(QLatin1Char('.') + suffix, Qt::CaseInsensitive))
        file += QLatin1Char('.') + suffix;
    if (const auto done = write(chart, form, file); !done)
        emit failed(QString::fromStdString(done.error().message));
    else
        emit said(tr("Written: %1").arg(file));
}

} // namespace loadline
