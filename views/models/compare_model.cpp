// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/compare_model.hpp"

#include "views/format/text.hpp"

#include <algorithm>
#include <map>

namespace loadline {
namespace {

struct Side {
    QString words;
    Bytes bytes;
    Seconds seconds;
};

Side sideOf(const Plan& plan, std::size_t unit)
{
    const OptionCost& cost = plan.cost(unit);
    const bool decides = plan.table.units[unit].parameters > 0;
    const QString words = decides || cost.strategy.recompute ? strategyText(cost.strategy, plan.table.setup.cluster.ranks())
                                                             : CompareModel::tr("nothing to store");
    return {words, cost.persistent(), cost.serial()};
}

QString signedBytesText(Bytes bytes)
{
    if (bytes.count() == 0)
        return QStringLiteral("0");
    const QString size = bytesText(Bytes(std::abs(bytes.count())));
    return (bytes.count() < 0 ? QStringLiteral("\u2212") : QStringLiteral("+")) + size;
}

} // namespace

void CompareModel::setPlans(const Plan* before, const Plan* after)
{
    beginResetModel();
    m_rows.clear();
    std::map<std::string_view, std::size_t> later;
    for (std::size_t unit = 0; after != nullptr && unit < after->table.units.size(); ++unit)
        later.emplace(after->table.units[unit].name, unit);
    std::vector<bool> taken(after != nullptr ? after->table.units.size() : 0);
    for (std::size_t unit = 0; before != nullptr && unit < before->table.units.size(); ++unit) {
        const Side a = sideOf(*before, unit);
        Row row{text(before->table.units[unit].name), a.words, {}, std::nullopt, std::nullopt};
        if (const auto found = later.find(before->table.units[unit].name); found != later.end()) {
            taken[found->second] = true;
            const Side b = sideOf(*after, found->second);
            row.after = b.words;
            row.bytes = b.bytes - a.bytes;
            row.seconds = Seconds(b.seconds.value() - a.seconds.value());
        }
        m_rows.push_back(std::move(row));
    }
    for (std::size_t unit = 0; unit < taken.size(); ++unit) {
        if (!taken[unit])
            m_rows.push_back({text(after->table.units[unit].name), {}, sideOf(*after, unit).words, std::nullopt, std::nullopt});
    }
    m_differences = static_cast<std::size_t>(std::count_if(m_rows.begin(), m_rows.end(), [](const Row& row) { return row.differs(); }));
    filter();
    endResetModel();
}

void CompareModel::setOnlyDifferences(bool only)
{
    beginResetModel();
    m_only = only;
    filter();
    endResetModel();
}

void CompareModel::filter()
{
    m_visible.clear();
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        if (!m_only || m_rows[i].differs())
            m_visible.push_back(i);
    }
}

int CompareModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_visible.size());
}

int CompareModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : kColumns;
}

QVariant CompareModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const Row& row = m_rows[m_visible[static_cast<std::size_t>(index.row())]];
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole || role == Qt::ToolTipRole) {
        switch (index.column()) {
        case Name:
            return row.name;
        case Before:
            return row.before.isEmpty() ? tr("not in A") : row.before;
        case After:
            return row.after.isEmpty() ? tr("not in B") : row.after;
        case BytesChange:
            return row.bytes ? signedBytesText(*row.bytes) : QString();
        default:
            return row.seconds ? (row.seconds->value() == 0 ? QStringLiteral("0") : signedSecondsText(*row.seconds)) : QString();
        }
    }
    if (role == MoodRole && index.column() == BytesChange && row.bytes)
        return row.bytes->count() < 0 ? 1 : row.bytes->count() > 0 ? -1 : 0;
    if (role == MoodRole && index.column() == SecondsChange && row.seconds)
        return row.seconds->value() < 0 ? 1 : row.seconds->value() > 0 ? -1 : 0;
    if (role == MoodRole)
        return 0;
    if (role == SortRole) {
        if (index.column() == BytesChange)
            return row.bytes ? QVariant(qint64(row.bytes->count())) : QVariant();
        if (index.column() == SecondsChange)
            return row.seconds ? QVariant(row.seconds->value()) : QVariant();
        return data(index, Qt::DisplayRole);
    }
    return {};
}

QVariant CompareModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    const QString names[] = {tr("OPERATOR"), tr("A"), tr("B"), tr("BYTES THAT STAY"), tr("SECONDS OF A STEP")};
    return section >= 0 && section < kColumns ? names[section] : QString();
}

} // namespace loadline
