// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/compute_time.hpp"
#include "core/exchange/verdict.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace loadline {
namespace {

using RowId = std::tuple<std::string, ComputeMode, std::string, int, std::int64_t, std::int64_t>;

RowId idOf(const OperatorRow& row)
{
    return {row.key, row.precision, row.attention, row.slices, row.batch, row.sequence};
}

double middle(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Rows of one operator as several units gave them.
struct Gathered {
    OperatorRow row;
    std::vector<double> forward;
    std::vector<double> backward;
    std::vector<double> recompute;
};

/// A figure of a run over its prediction; 1 where nothing was predicted.
double factorOf(Seconds measured, Seconds predicted)
{
    return predicted > Seconds(0) ? measured.value() / predicted.value() : 1;
}

std::map<RowId, Gathered> rowsOfRun(const CostTable& table, const Choice& choice, const std::vector<UnitDifference>& units)
{
    const Setup& setup = table.setup;
    const ActivationSettings settings{setup.batch, setup.sequence, setup.precision.compute, setup.attention, setup.dropout};
    const auto prints = footprints(*setup.model, settings);
    std::map<RowId, Gathered> rows;
    for (const auto& unit : units) {
        const int slices = table.options(unit.unit)[choice[unit.unit]].strategy.slices;
        const double forward = factorOf(unit.measuredForward, unit.predictedForward);
        const double backward = factorOf(unit.measuredBackward, unit.predictedBackward);
        for (const auto index : table.units[unit.unit].operators) {
            const Operator& op = setup.model->operators[index];
            const auto time = computeTime(op, prints[index], slices, setup);
            OperatorRow row;
            row.key = operatorKey(op);
            if (row.key.empty() || !(time.forward + time.backward > Seconds(0)))
                continue;
            row.precision = setup.precision.compute;
            if (const auto* attention = std::get_if<AttentionTraits>(&op.traits))
                row.attention = attentionName(chosenAttention(*attention, settings));
            row.batch = setup.batch;
            row.sequence = op.tokens.of(setup.sequence);
            row.slices = slices;
            row.accumulate = time.accumulate * backward;
            row.saved = prints[index].saved;
            auto& gathered = rows[idOf(row)];
            gathered.row = row;
            gathered.forward.push_back(time.forward.value() * forward);
            gathered.backward.push_back(time.backward.value() * backward);
            gathered.recompute.push_back(time.recompute.value() * backward);
        }
    }
    for (auto& [id, gathered] : rows) {
        gathered.row.forward = Seconds(middle(std::move(gathered.forward)));
        gathered.row.backward = Seconds(middle(std::move(gathered.backward)));
        gathered.row.recompute = Seconds(middle(std::move(gathered.recompute)));
    }
    return rows;
}

/// The optimizer's own measured share, spread over the sizes that the plan has.
std::vector<StepRow> stepsOfRun(const CostTable& table, const Choice& choice, const RunComparison& comparison)
{
    const auto term = std::find_if(comparison.terms.begin(), comparison.terms.end(),
                                   [](const VerdictTerm& t) { return t.kind == VerdictTerm::Kind::Time && t.name == "optimizer"; });
    if (term == comparison.terms.end() || !(term->predicted > 0) || !(term->measured > 0))
        return {};
    std::map<std::int64_t, double> sizes;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        const auto& cost = table.options(unit)[choice[unit]];
        const double perParameter = table.setup.precision.gradient;
        const auto parameters = static_cast<std::int64_t>(static_cast<double>(cost.gradients.count()) / std::max(perParameter, 1.0));
        if (parameters > 0)
            sizes[parameters] = cost.step.value() * term->measured / term->predicted;
    }
    std::vector<StepRow> rows;
    for (const auto& [parameters, seconds] : sizes)
        rows.push_back({table.setup.optimizer.name, parameters, Seconds(seconds), Seconds()});
    return rows;
}

} // namespace

Profile calibratedProfile(const Profile* base, const CostTable& table, const Choice& choice, const RunTrace& record,
                          const std::string& device, const std::string& date)
{
    const auto comparison = compareRun(table, choice, record, verdictBounds(table.setup));
    const auto rows = rowsOfRun(table, choice, comparison.units);
    auto steps = stepsOfRun(table, choice, comparison);
    ProfileHeader header;
    std::vector<OperatorRow> operators;
    std::vector<LinkRow> links;
    std::vector<OverlapRow> overlaps;
    if (base != nullptr) {
        header = base->header();
        links = base->links();
        overlaps = base->overlaps();
        std::copy_if(base->operators().begin(), base->operators().end(), std::back_inserter(operators),
                     [&](const OperatorRow& row) { return !rows.contains(idOf(row)); });
        for (const auto& step : base->steps())
            if (steps.empty() || step.optimizer != table.setup.optimizer.name)
                steps.push_back(step);
    } else {
        header.device = device;
        header.ranks = table.setup.cluster.ranks();
    }
    header.date = date;
    std::erase_if(header.versions, [](const auto& entry) { return entry.first == "calibrated"; });
    header.versions.emplace_back("calibrated", "from a run of " + date);
    for (const auto& [id, gathered] : rows)
        operators.push_back(gathered.row);
    return {std::move(header), std::move(operators), std::move(links), std::move(overlaps), std::move(steps)};
}

} // namespace loadline
