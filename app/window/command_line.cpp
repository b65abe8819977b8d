// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/command_line.hpp"

#include <QCoreApplication>

namespace loadline {
namespace {

QString translated(const char* source)
{
    return QCoreApplication::translate("loadline::CommandLine", source);
}

Error wrong(const QString& sentence)
{
    return invalidInput(sentence.toStdString());
}

Result<bool> takeValue(CommandLine& line, const QString& flag, const QString& value)
{
    if (flag == QLatin1String("--screenshot")) {
        line.screenshotFolder = value;
    } else if (flag == QLatin1String("--script")) {
        line.script = value;
    } else if (flag == QLatin1String("--theme")) {
        if (value != QLatin1String("light") && value != QLatin1String("dark") && value != QLatin1String("system"))
            return wrong(translated("--theme is '%1'; give light, dark or system").arg(value));
        line.theme = value;
    } else if (flag == QLatin1String("--size")) {
        line.size = parseSize(value);
        if (!line.size.isValid())
            return wrong(translated("--size is '%1'; give width x height from 200 to 8192, like 1440x900").arg(value));
    } else if (flag == QLatin1String("--scale")) {
        bool ok = false;
        line.scale = value.toDouble(&ok);
        if (!ok || !(line.scale >= 0.5 && line.scale <= 4))
            return wrong(translated("--scale is '%1'; give a number from 0.5 to 4").arg(value));
    } else if (flag == QLatin1String("--store")) {
        if (value.isEmpty())
            return wrong(translated("--store is empty; give a file"));
        line.store = value;
    } else {
        line.compare << value;
    }
    return true;
}

} // namespace

QSize parseSize(const QString& text)
{
    const QStringList parts = text.split(QLatin1Char('x'));
    if (parts.size() != 2)
        return {};
    bool wide = false;
    bool high = false;
    const QSize size(parts[0].toInt(&wide), parts[1].toInt(&high));
    const auto within = [](int pixels) { return pixels >= 200 && pixels <= 8192; };
    return wide && high && within(size.width()) && within(size.height()) ? size : QSize();
}

Result<CommandLine> parseCommandLine(const QStringList& arguments)
{
    static const QStringList kWithValue{QStringLiteral("--screenshot"), QStringLiteral("--script"), QStringLiteral("--theme"),
                                        QStringLiteral("--size"),       QStringLiteral("--scale"),  QStringLiteral("--store"),
                                        QStringLiteral("--compare")};
    CommandLine line;
    for (qsizetype i = 0; i < arguments.size(); ++i) {
        const QString flag = arguments[i].section(QLatin1Char('='), 0, 0);
        if (arguments[i] == QLatin1String("--version")) {
            line.version = true;
        } else if (arguments[i] == QLatin1String("--help") || arguments[i] == QLatin1String("-h")) {
            line.help = true;
        } else if (kWithValue.contains(flag)) {
            const bool inside = arguments[i].contains(QLatin1Char('='));
            if (!inside && i + 1 == arguments.size())
                return wrong(translated("%1 needs a value").arg(flag));
            const QString value = inside ? arguments[i].section(QLatin1Char('='), 1) : arguments[++i];
            if (const auto taken = takeValue(line, flag, value); !taken)
                return taken.error();
            if (flag == QLatin1String("--compare")) {
                if (i + 1 == arguments.size() || arguments[i + 1].startsWith(QLatin1Char('-')))
                    return wrong(translated("--compare needs two plans: files, or saved sessions by name"));
                line.compare << arguments[++i];
            }
        } else if (arguments[i].startsWith(QLatin1Char('-'))) {
            return wrong(translated("'%1' is not a flag of loadline; see --help").arg(arguments[i]));
        } else {
            line.files << arguments[i];
        }
    }
    return line;
}

QString usageText()
{
    return translated("loadline [FILE...]            open models, clusters, plans, profiles (files, or bundled names)\n"
                      "  --compare A B               two plan files or saved sessions side by side\n"
                      "  --store FILE                where sessions are kept, instead of $LOADLINE_STORE or the usual place\n"
                      "  --screenshot DIR            write every page as PNG into DIR, then leave\n"
                      "  --size WxH                  size of the window, 1440x900 if not given\n"
                      "  --theme light|dark|system   colours\n"
                      "  --scale S                   scale of everything, 0.5 to 4\n"
                      "  --script FILE               do the actions in FILE, one a line (docs/window.md)\n"
                      "  --version, --help\n");
}

} // namespace loadline
