// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/habits.hpp"

#include <QSettings>
#include <QStandardPaths>

namespace loadline::habits {
namespace {

const QString kCoachDone = QStringLiteral("coach/done");

QString configFolder()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation);
}

} // namespace

QString file()
{
    return configFolder() + QStringLiteral("/loadline/window.ini");
}

bool coachDone()
{
    return QSettings(file(), QSettings::IniFormat).value(kCoachDone, false).toBool();
}

void setCoachDone()
{
    QSettings(file(), QSettings::IniFormat).setValue(kCoachDone, true);
}

bool reducedMotion()
{
    if (qEnvironmentVariableIsSet("LOADLINE_REDUCED_MOTION"))
        return qEnvironmentVariable("LOADLINE_REDUCED_MOTION") != QLatin1String("0");
    for (const char* gtk : {"/gtk-4.0/settings.ini", "/gtk-3.0/settings.ini"}) {
        const QSettings settings(configFolder() + QLatin1String(gtk), QSettings::IniFormat);
        const QString enabled = settings.value(QStringLiteral("Settings/gtk-enable-animations")).toString();
        if (enabled == QLatin1String("0") || enabled == QLatin1String("false"))
            return true;
    }
    const QSettings kde(configFolder() + QStringLiteral("/kdeglobals"), QSettings::IniFormat);
    return kde.value(QStringLiteral("KDE/AnimationDurationFactor"), 1.0).toDouble() <= 0;
}

} // namespace loadline::habits
