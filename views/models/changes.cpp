// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/changes.hpp"

#include "views/format/text.hpp"
#include "views/models/unit_names.hpp"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace loadline {
namespace {

struct Group {
    Change change;
    QString kind;
    std::vector<int> blocks;
};

QString translated(const char* source)
{
    return QCoreApplication::translate("loadline::Change", source);
}

QString whereText(const Group& group)
{
    if (group.blocks.empty())
        return group.kind;
    const QString blocks = (group.blocks.size() == 1 ? translated(QT_TRANSLATE_NOOP("loadline::Change", "block %1"))
                                                     : translated(QT_TRANSLATE_NOOP("loadline::Change", "blocks %1")))
                               .arg(runsText(group.blocks));
    return group.kind.isEmpty() ? blocks : group.kind + QStringLiteral(" \u00b7 ") + blocks;
}

} // namespace

QString runsText(const std::vector<int>& numbers)
{
    QStringList runs;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t end = i;
        while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1)
            ++end;
        runs << (end == i ? QString::number(numbers[i])
                          : QString::number(numbers[i]) + (end == i + 1 ? QStringLiteral(", ") : QStringLiteral("\u2013")) +
                                QString::number(numbers[end]));
        i = end + 1;
    }
    return runs.join(QStringLiteral(", "));
}

std::vector<Change> changesBetween(const Plan& before, const Plan& after)
{
    const auto& units = after.table.units;
    if (before.table.units.size() != units.size() || before.table.setup.model != after.table.setup.model)
        return {};
    using Key = std::tuple<QString, QString, QString>; // stack, kind, what
    std::map<Key, Group> groups;
    const std::int64_t ranksBefore = before.table.setup.cluster.ranks();
    const std::int64_t ranks = after.table.setup.cluster.ranks();
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
        const OptionCost& was = before.cost(unit);
        const OptionCost& is = after.cost(unit);
        if (was.strategy == is.strategy || units[unit].parameters == 0)
            continue;
        const QString what = strategyText(was.strategy, ranksBefore) + QStringLiteral(" \u2192 ") + strategyText(is.strategy, ranks);
        const UnitName name = unitName(units[unit]);
        Group& group = groups[{name.stack, name.kind, what}];
        group.kind = name.kind;
        group.change.what = what;
        group.change.delta += is.serial() - was.serial();
        group.change.units.push_back(unit);
        if (name.block >= 0)
            group.blocks.push_back(name.block);
    }
    std::vector<Change> changes;
    for (auto& [key, group] : groups) {
        group.change.where = whereText(group);
        changes.push_back(std::move(group.change));
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return std::abs(a.delta.value()) > std::abs(b.delta.value()); });
    return changes;
}

} // namespace loadline
