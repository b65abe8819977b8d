// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/operator_tree_model.hpp"

#include "views/format/text.hpp"
#include "views/models/unit_names.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace loadline {
namespace {

QString kindWords(const Decision& decision)
{
    switch (decision.kind) {
    case Decision::Kind::Replicated:
        return OperatorTreeModel::tr("replicated");
    case Decision::Kind::Sharded:
        return OperatorTreeModel::tr("sharded");
    case Decision::Kind::GroupSharded:
        return OperatorTreeModel::tr("in group");
    case Decision::Kind::Split:
        return OperatorTreeModel::tr("%1 of %2").arg(decision.shardedSlices).arg(decision.slices);
    case Decision::Kind::None:
        break;
    }
    return {};
}

bool sameUnits(const CostTable& a, const CostTable& b)
{
    return std::equal(a.units.begin(), a.units.end(), b.units.begin(), b.units.end(),
                      [](const Unit& x, const Unit& y) { return x.name == y.name; });
}

} // namespace

OperatorTreeModel::OperatorTreeModel(QObject* parent) : QAbstractItemModel(parent)
{
    m_nodes.emplace_back();
}

void OperatorTreeModel::setPicture(const PlanPicturePtr& picture)
{
    if (!picture || !picture->plan())
        return;
    const Plan& plan = *picture->plan();
    const bool same = m_shown && sameUnits(m_shown->plan()->table, plan.table);
    if (same) {
        m_shown = picture;
        refill(plan);
        for (const Node& parent : m_nodes) {
            if (!parent.children.empty())
                emit dataChanged(createIndex(0, Chosen, parent.children.front()),
                                 createIndex(parent.children.back()->row, Time, parent.children.back()));
        }
        return;
    }
    beginResetModel();
    m_shown = picture;
    rebuild(plan.table);
    refill(plan);
    endResetModel();
}

OperatorTreeModel::Node* OperatorTreeModel::addChild(Node* parent, const QString& name)
{
    Node& child = m_nodes.emplace_back();
    child.parent = parent;
    child.row = static_cast<int>(parent->children.size());
    child.name = name;
    parent->children.push_back(&child);
    return &child;
}

void OperatorTreeModel::rebuild(const CostTable& table)
{
    m_nodes.clear();
    m_leafOfUnit.clear();
    Node* root = &m_nodes.emplace_back();
    std::map<QString, Node*> stacks;
    std::map<std::pair<QString, QString>, Node*> kinds;
    std::map<QString, int> blocks; // highest number + 1
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        const UnitName name = unitName(table.units[unit]);
        Node* parent = root;
        QString label = name.kind;
        if (name.block >= 0) {
            Node*& stack = stacks[name.stack];
            if (!stack)
                stack = addChild(root, name.stack.section(QLatin1Char('.'), -1));
            parent = stack;
            label = tr("block %1").arg(name.block);
            blocks[name.stack] = std::max(blocks[name.stack], name.block + 1);
            if (!name.kind.isEmpty()) {
                Node*& kind = kinds[{name.stack, name.kind}];
                if (!kind)
                    kind = addChild(stack, name.kind);
                parent = kind;
            }
        }
        Node* leaf = addChild(parent, label);
        leaf->unit = static_cast<int>(unit);
        leaf->fullName = text(table.units[unit].name);
        m_leafOfUnit.push_back(leaf);
    }
    for (const auto& [stack, count] : blocks) {
        stacks[stack]->name += QStringLiteral(" \u00d7 %1").arg(count);
        stacks[stack]->fullName = stack;
    }
    for (Node& node : m_nodes) {
        if (node.fullName.isEmpty())
            node.fullName = node.name;
    }
}

void OperatorTreeModel::refill(const Plan& plan)
{
    for (Node& node : m_nodes) {
        node.memory = Bytes();
        node.time = Seconds();
        node.shares.clear();
    }
    const std::int64_t ranks = plan.table.setup.cluster.ranks();
    for (std::size_t unit = 0; unit < m_leafOfUnit.size(); ++unit) {
        Node& leaf = *m_leafOfUnit[unit];
        const OptionCost& cost = plan.cost(unit);
        leaf.memory = cost.states() + cost.saved;
        leaf.time = cost.serial();
        const Decision decision = decisionOf(cost.strategy, ranks, plan.table.units[unit].parameters);
        for (Node* node = &leaf; node; node = node->parent) {
            if (node != &leaf) {
                node->memory += leaf.memory;
                node->time += leaf.time;
            }
            if (decision.kind == Decision::Kind::None)
                continue;
            const auto known =
                std::find_if(node->shares.begin(), node->shares.end(), [&](const Share& s) { return s.decision == decision; });
            if (known == node->shares.end())
                node->shares.push_back({decision, 1});
            else
                ++known->count;
        }
    }
    for (Node& node : m_nodes)
        std::stable_sort(node.shares.begin(), node.shares.end(), [](const Share& a, const Share& b) { return a.count > b.count; });
}

const OperatorTreeModel::Node* OperatorTreeModel::node(const QModelIndex& index)
{
    return static_cast<const Node*>(index.internalPointer());
}

std::vector<OperatorTreeModel::Share> OperatorTreeModel::shares(const QModelIndex& index) const
{
    return index.isValid() ? node(index)->shares : std::vector<Share>{};
}

void OperatorTreeModel::setPins(std::vector<QString> pins)
{
    if (pins == m_pins)
        return;
    m_pins = std::move(pins);
    for (const Node& parent : m_nodes) {
        if (!parent.children.empty())
            emit dataChanged(createIndex(0, Name, parent.children.front()),
                             createIndex(parent.children.back()->row, Name, parent.children.back()));
    }
}

std::vector<std::size_t> OperatorTreeModel::unitsOf(const QModelIndex& index) const
{
    std::vector<std::size_t> units;
    std::vector<const Node*> open;
    if (index.isValid())
        open.push_back(node(index));
    while (!open.empty()) {
        const Node* item = open.back();
        open.pop_back();
        if (item->unit >= 0)
            units.push_back(static_cast<std::size_t>(item->unit));
        open.insert(open.end(), item->children.begin(), item->children.end());
    }
    std::sort(units.begin(), units.end());
    return units;
}

std::vector<int> OperatorTreeModel::splitsOf(const std::vector<std::size_t>& units) const
{
    std::set<int> splits;
    for (const std::size_t unit : units) {
        for (const OptionCost& option : m_shown->plan()->table.options(unit)) {
            if (option.strategy.slices > 1 && option.strategy.shardedSlices == option.strategy.slices)
                splits.insert(option.strategy.slices);
        }
    }
    return {splits.begin(), splits.end()};
}

QString OperatorTreeModel::pinText(const Node& item) const
{
    const auto pinOf = [this](int unit) {
        return m_pins.empty() || unit < 0 ? QString() : m_pins[static_cast<std::size_t>(unit) % m_pins.size()];
    };
    if (item.unit >= 0)
        return pinOf(item.unit);
    int count = 0;
    std::vector<const Node*> open(item.children.begin(), item.children.end());
    while (!open.empty()) {
        const Node* below = open.back();
        open.pop_back();
        count += pinOf(below->unit).isEmpty() ? 0 : 1;
        open.insert(open.end(), below->children.begin(), below->children.end());
    }
    return count > 0 ? tr("%1 of them").arg(count) : QString();
}

OperatorFacts OperatorTreeModel::facts(const QModelIndex& index) const
{
    OperatorFacts facts;
    if (!index.isValid())
        return facts;
    const Node& item = *node(index);
    facts.name = item.fullName;
    if (item.unit < 0)
        return facts;
    const auto unit = static_cast<std::size_t>(item.unit);
    const Strategy& strategy = m_shown->plan()->cost(unit).strategy;
    facts.slices = strategy.slices;
    facts.shardedSlices = strategy.shardedSlices;
    facts.group = static_cast<double>(strategy.group);
    facts.bytes = static_cast<double>(item.memory.count());
    facts.seconds = item.time.value();
    facts.parameters = static_cast<double>(m_shown->plan()->table.units[unit].parameters);
    facts.recomputed = strategy.recompute;
    facts.pinned = !pinText(item).isEmpty();
    return facts;
}

QModelIndex OperatorTreeModel::indexOfUnit(std::size_t unit) const
{
    if (unit >= m_leafOfUnit.size())
        return {};
    return createIndex(m_leafOfUnit[unit]->row, Name, m_leafOfUnit[unit]);
}

QModelIndex OperatorTreeModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    const Node& above = parent.isValid() ? *node(parent) : m_nodes.front();
    return createIndex(row, column, above.children[static_cast<std::size_t>(row)]);
}

QModelIndex OperatorTreeModel::parent(const QModelIndex& index) const
{
    if (!index.isValid())
        return {};
    Node* above = node(index)->parent;
    return !above || above == &m_nodes.front() ? QModelIndex() : createIndex(above->row, 0, above);
}

int OperatorTreeModel::rowCount(const QModelIndex& parent) const
{
    if (parent.column() > 0)
        return 0;
    const Node& above = parent.isValid() ? *node(parent) : m_nodes.front();
    return static_cast<int>(above.children.size());
}

int OperatorTreeModel::columnCount(const QModelIndex&) const
{
    return kColumns;
}

QString OperatorTreeModel::chosenText(const Node& node) const
{
    if (node.shares.empty())
        return {};
    if (node.shares.size() == 1)
        return kindWords(node.shares.front().decision);
    std::size_t others = 0;
    for (std::size_t i = 1; i < node.shares.size(); ++i)
        others += node.shares[i].count;
    //: so many of the commonest choice, and so many others
    return tr("%1 %2 +%3").arg(node.shares.front().count).arg(kindWords(node.shares.front().decision)).arg(others);
}

QString OperatorTreeModel::toolTip(const Node& node) const
{
    QStringList lines{node.fullName};
    if (node.unit >= 0) {
        const auto unit = static_cast<std::size_t>(node.unit);
        const Plan& plan = *m_shown->plan();
        const OptionCost& cost = plan.cost(unit);
        lines << tr("%1 parameters").arg(wholeText(plan.table.units[unit].parameters));
        if (plan.table.units[unit].parameters > 0)
            lines << strategyText(cost.strategy, plan.table.setup.cluster.ranks());
    } else {
        for (const Share& share : node.shares)
            lines << tr("%1 %2").arg(share.count).arg(kindWords(share.decision));
    }
    if (const QString pin = pinText(node); !pin.isEmpty())
        lines << tr("pinned: %1").arg(pin);
    lines << tr("memory %1 (states and saved activations)").arg(bytesText(node.memory));
    lines << tr("time %1 (compute and communication)").arg(secondsText(node.time));
    return lines.join(QLatin1Char('\n'));
}

double OperatorTreeModel::shareOf(const Node& item, int column) const
{
    const auto value = [&](const Node& n) { return column == Memory ? static_cast<double>(n.memory.count()) : n.time.value(); };
    double most = 0;
    for (const Node* sibling : item.parent->children)
        most = std::max(most, value(*sibling));
    return most > 0 ? value(item) / most : 0;
}

QVariant OperatorTreeModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const Node& item = *node(index);
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
        return column == Name     ? item.name
               : column == Chosen ? chosenText(item)
               : column == Memory ? bytesText(item.memory)
                                  : secondsText(item.time);
    case Qt::ToolTipRole:
        return toolTip(item);
    case SortRole:
        if (column == Memory)
            return QVariant::fromValue<qint64>(item.memory.count());
        if (column == Time)
            return item.time.value();
        return column == Chosen ? QVariant(chosenText(item)) : QVariant(item.row);
    case ShareRole:
        return column == Memory || column == Time ? QVariant(shareOf(item, column)) : QVariant();
    case UnitRole:
        return item.unit;
    case PinRole:
        return pinText(item);
    default:
        return {};
    }
}

QVariant OperatorTreeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Name:
        return tr("NAME");
    case Chosen:
        return tr("CHOSEN");
    case Memory:
        return tr("MEMORY");
    case Time:
        return tr("TIME");
    default:
        return {};
    }
}

} // namespace loadline
