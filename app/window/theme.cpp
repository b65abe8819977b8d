// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/theme.hpp"

#include "views/palette.hpp"

#include <QApplication>
#include <QFile>
#include <QFontDatabase>
#include <QStyle>
#include <QStyleFactory>

// Resources of a static library are taken in by name, and outside any namespace.
static void takeResources()
{
    Q_INIT_RESOURCE(window);
}

namespace loadline {
namespace {

bool& systemIsDark()
{
    static bool dark = false;
    return dark;
}

QString styleSheet(const Palette& colors)
{
    QFile file(QStringLiteral(":/themes/window.qss"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QString sheet = QString::fromUtf8(file.readAll());
    const std::pair<const char*, QColor> roles[] = {
        {"@ground@", colors.ground}, {"@panel@", colors.panel},      {"@line@", colors.line},         {"@text@", colors.text},
        {"@field@", colors.field},   {"@chosen@", colors.chosen},    {"@softText@", colors.softText}, {"@accent@", colors.accent},
        {"@budget@", colors.budget}, {"@onAccent@", colors.onAccent}};
    for (const auto& [role, color] : roles)
        sheet.replace(QLatin1String(role), color.name());
    return sheet.replace(QLatin1String("@shade@"), colors.dark ? QLatin1String("dark") : QLatin1String("light"));
}

} // namespace

Theme themeOf(const QString& name)
{
    if (name == QLatin1String("light"))
        return Theme::Light;
    return name == QLatin1String("dark") ? Theme::Dark : Theme::System;
}

void rememberSystemTheme()
{
    systemIsDark() = QApplication::palette().color(QPalette::Window).lightness() < 128;
}

void applyTheme(Theme theme, bool fixedFont)
{
    takeResources();
    const bool dark = theme == Theme::Dark || (theme == Theme::System && systemIsDark());
    const Palette& colors = dark ? darkPalette() : lightPalette();
    if (qApp->style()->name() != QLatin1String("fusion"))
        QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QFont font = QApplication::font();
    if (fixedFont && QFontDatabase::families().contains(QStringLiteral("DejaVu Sans")))
        font.setFamily(QStringLiteral("DejaVu Sans"));
    font.setPointSizeF(11.5 * 0.75);
    // From one sheet to another Qt polishes every widget several times over: by way of none it takes a quarter of the time.
    qApp->setStyleSheet(QString());
    QApplication::setFont(font);
    QApplication::setPalette(toQPalette(colors));
    qApp->setStyleSheet(styleSheet(colors));
}

} // namespace loadline
