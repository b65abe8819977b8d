// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/unit_names.hpp"

#include <QCoreApplication>
#include <QStringList>

namespace loadline {

UnitName unitName(const Unit& unit)
{
    const QString full = QString::fromStdString(unit.name);
    const QStringList parts = full.split(QLatin1Char('.'));
    for (qsizetype i = 1; i < parts.size(); ++i) {
        bool number = false;
        const int block = parts[i].toInt(&number);
        if (number)
            return {parts.mid(0, i).join(QLatin1Char('.')), block, parts.mid(i + 1).join(QLatin1Char('.'))};
    }
    return {QString(), -1, parts.last()};
}

QString shortUnitName(const Unit& unit)
{
    const UnitName name = unitName(unit);
    if (name.block < 0)
        return name.kind;
    if (name.kind.isEmpty())
        return QCoreApplication::translate("loadline::UnitName", "block %1").arg(name.block);
    return QCoreApplication::translate("loadline::UnitName", "%1 of block %2").arg(name.kind).arg(name.block);
}

} // namespace loadline
