// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"

#include <QSize>
#include <QString>
#include <QStringList>

namespace loadline {

/// What `loadline` was started with.
struct CommandLine {
    QStringList files;
    QString screenshotFolder; ///< not empty: write every page as picture, then leave
    QStringList compare;      ///< two plan files or saved sessions, or none
    QString store;            ///< file of the store; empty: LOADLINE_STORE, else the usual place
    QString script;           ///< file with actions, or empty
    QString theme = QStringLiteral("system");
    QSize size{1440, 900};
    double scale = 0; ///< 0: the screen's own
    bool version = false;
    bool help = false;
};

/// Reads the arguments after the program's name. Errors name the argument. Needs no application object.
Result<CommandLine> parseCommandLine(const QStringList& arguments);

/// What --help prints.
QString usageText();

/// "1440x900"; invalid for anything else, and beyond 200 to 8192 pixels a side.
QSize parseSize(const QString& text);

} // namespace loadline
