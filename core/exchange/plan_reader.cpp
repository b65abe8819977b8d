// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/plan_document.hpp"

#include "core/base/text.hpp"
#include "core/cluster/fields.hpp"
#include "core/exchange/setup_json.hpp"
#include "core/plan/check.hpp"
#include "core/plan/pins.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

constexpr double kMostSeconds = 1e12;
constexpr std::int64_t kMostBytes = INT64_MAX / 4;
constexpr double kRelative = 1e-9; ///< figures are written with all their digits

/// What the file claims beside the plan itself.
struct Claims {
    std::int64_t ranks = 0;
    double samplesPerSecond = 0;
    double tokensPerSecond = 0;
    PeakParts parts;
};

bool differs(double claimed, double computed)
{
    return std::abs(claimed - computed) > kRelative * std::max(std::abs(claimed), std::abs(computed));
}

const Json& member(const Json& json, std::string_view key)
{
    static const Json kNone;
    const auto found = json.find(key);
    return found == json.end() ? kNone : *found;
}

Result<SearchStatus> readStatus(const std::string& word, std::string_view origin)
{
    if (word == "optimal")
        return SearchStatus::Optimal;
    if (word == "within_gap")
        return SearchStatus::WithinGap;
    if (word == "infeasible")
        return SearchStatus::Infeasible;
    return invalidInput(fmt::format("{}, key 'status' is none of optimal, within_gap, infeasible; save the plan again", origin));
}

std::optional<Error> readMemory(const Json& root, std::string_view origin, bool feasible, PlanOutcome& outcome, Claims& claims)
{
    const auto& json = member(root, "memory");
    if (!json.is_object())
        return invalidInput(fmt::format("{}, key 'memory' is not an object; save the plan again", origin));
    Fields fields(json, fmt::format("{}, memory", origin));
    outcome.budget = Bytes(fields.whole("budget_bytes", 0, INT64_MAX));
    if (feasible) {
        outcome.plan->peak = Bytes(fields.whole("peak_bytes", 0, kMostBytes));
        outcome.plan->paperPeak = Bytes(fields.whole("paper_bound_bytes", 0, kMostBytes));
        claims.parts = {Bytes(fields.whole("states_bytes", 0, kMostBytes)), Bytes(fields.whole("activation_bytes", 0, kMostBytes)),
                        Bytes(fields.whole("transient_bytes", 0, kMostBytes)), Bytes(fields.whole("overhead_bytes", 0, kMostBytes))};
    }
    return fields.fault();
}

std::optional<Error> readFigures(const Json& root, std::string_view origin, PlanOutcome& outcome, Claims& claims)
{
    Fields fields(root, std::string(origin));
    outcome.plan->objective = Seconds(fields.number("step_seconds", 0, kMostSeconds));
    outcome.lowerBound = Seconds(fields.number("lower_bound_seconds", 0, kMostSeconds));
    outcome.gap = fields.number("gap", 0, 1);
    outcome.secondsPerGib = fields.number("shadow_price_seconds_per_gib", 0, kMostSeconds);
    claims.samplesPerSecond = fields.number("samples_per_second", 0, kMostSeconds);
    claims.tokensPerSecond = fields.number("tokens_per_second", 0, 1e18);
    if (fields.fault())
        return fields.fault();
    const auto& json = member(root, "time");
    if (!json.is_object())
        return invalidInput(fmt::format("{}, key 'time' is not an object; save the plan again", origin));
    Fields times(json, fmt::format("{}, time", origin));
    auto& time = outcome.plan->time;
    time.serial = Seconds(times.number("serial_seconds", 0, kMostSeconds));
    time.overlapped = Seconds(times.number("overlapped_seconds", 0, kMostSeconds));
    time.compute = Seconds(times.number("compute_seconds", 0, kMostSeconds));
    time.communication = Seconds(times.number("communication_seconds", 0, kMostSeconds));
    time.exposed = Seconds(times.number("exposed_seconds", 0, kMostSeconds));
    return times.fault();
}

struct OperatorClaim {
    Strategy strategy;
    std::int64_t parameters = 0;
};

Result<std::vector<OperatorClaim>> readOperators(const Json& root, const Model& model, std::string_view origin)
{
    const auto& list = member(root, "operators");
    if (!list.is_array() || list.size() != model.operators.size())
        return invalidInput(fmt::format("{}, key 'operators' is not a list of the model's {} operators; save the plan again", origin,
                                        model.operators.size()));
    std::vector<OperatorClaim> claims;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (!list[i].is_object())
            return invalidInput(fmt::format("{}, operators[{}] is not an object; save the plan again", origin, i));
        Fields fields(list[i], fmt::format("{}, operators[{}]", origin, i));
        const auto name = fields.text("name");
        OperatorClaim claim;
        claim.parameters = fields.whole("parameters", 0, kMostBytes);
        claim.strategy.group = fields.whole("group", 1, 1'000'000);
        claim.strategy.slices = static_cast<int>(fields.whole("slices", 1, 1024));
        claim.strategy.shardedSlices = static_cast<int>(fields.whole("sharded_slices", 0, 1024));
        claim.strategy.recompute = fields.flag("recompute", false);
        claim.strategy.reshardAfterForward = fields.flag("reshard_after_forward", true);
        if (fields.fault())
            return *fields.fault();
        if (name != model.operators[i].name)
            return invalidInput(fmt::format("{}, operators[{}] is '{}' where the model has '{}'; save the plan again", origin, i,
                                            name.substr(0, 80), model.operators[i].name));
        claims.push_back(claim);
    }
    return claims;
}

/// Finds for each unit the option that its operators claim. Recomputation follows from the setup.
Result<Choice> chooseOptions(const CostTable& table, const std::vector<OperatorClaim>& claims, std::string_view origin)
{
    const auto ranks = table.setup.cluster.ranks();
    Choice choice;
    for (const auto& unit : table.units) {
        const Strategy wanted = unit.holds.empty() ? Strategy{} : claims[unit.holds.front()].strategy;
        const auto& options = table.classOptions[unit.costClass];
        const auto found = std::find_if(options.begin(), options.end(), [&](const OptionCost& option) {
            auto strategy = option.strategy;
            strategy.recompute = wanted.recompute;
            return strategy == wanted;
        });
        if (found == options.end())
            return invalidInput(fmt::format("{}: '{}' has the strategy {}, which its setup does not offer; save the plan again", origin,
                                            unit.name, strategyLabel(wanted, ranks)));
        choice.push_back(static_cast<std::uint32_t>(found - options.begin()));
    }
    const auto strategies = strategiesByOperator(table, choice);
    for (std::size_t i = 0; i < claims.size(); ++i) {
        if (claims[i].strategy != strategies[i])
            return invalidInput(fmt::format(
                "{}, operators[{}]: '{}' has the strategy {}, and what it is planned with has {}; save the plan again", origin, i,
                table.setup.model->operators[i].name, strategyLabel(claims[i].strategy, ranks), strategyLabel(strategies[i], ranks)));
    }
    return choice;
}

void compareParts(const Plan& plan, const PeakParts& claimed, std::vector<std::string>& violations)
{
    const auto parts = peakParts(plan);
    const auto compare = [&](std::string_view key, Bytes said, Bytes computed) {
        if (said != computed)
            violations.push_back(fmt::format("memory.{} says {} B and the setup gives {} B", key, said.count(), computed.count()));
    };
    compare("states_bytes", claimed.states, parts.states);
    compare("activation_bytes", claimed.activations, parts.activations);
    compare("transient_bytes", claimed.transient, parts.transient);
    compare("overhead_bytes", claimed.overhead, parts.overhead);
}

void compareClaims(const PlanOutcome& outcome, const Claims& claims, std::vector<std::string>& violations)
{
    const auto& plan = *outcome.plan;
    const auto compare = [&](std::string_view key, double said, double computed) {
        if (differs(said, computed))
            violations.push_back(fmt::format("{} says {} and the setup gives {}", key, said, computed));
    };
    const auto& setup = plan.table.setup;
    const double samples = static_cast<double>(setup.batch * setup.accumulation * setup.cluster.ranks());
    compare("ranks", static_cast<double>(claims.ranks), static_cast<double>(setup.cluster.ranks()));
    compare("samples_per_second", claims.samplesPerSecond, samples / plan.objective.value());
    compare("tokens_per_second", claims.tokensPerSecond, plan.tokensPerSecond());
    if (outcome.lowerBound > plan.objective && differs(outcome.lowerBound.value(), plan.objective.value()))
        violations.emplace_back("lower_bound_seconds is above step_seconds");
    if (plan.objective.value() > 0 &&
        std::abs((plan.objective - outcome.lowerBound).value() / plan.objective.value() - outcome.gap) > kRelative)
        violations.push_back(fmt::format("gap says {} and the two times give {}", outcome.gap,
                                         (plan.objective - outcome.lowerBound).value() / plan.objective.value()));
    if (outcome.status == SearchStatus::Optimal && outcome.gap > kRelative)
        violations.push_back(fmt::format("status says optimal and the gap is {}", outcome.gap));
    compareParts(plan, claims.parts, violations);
}

std::optional<Error> readFeasible(const Json& root, std::string_view origin, SavedPlan& saved, Claims& claims)
{
    auto& outcome = saved.document.outcome;
    auto table = buildCostTable(saved.document.setup);
    if (!table)
        return invalidInput(fmt::format("{}: {}", origin, table.error().message));
    auto operators = readOperators(root, *saved.document.setup.model, origin);
    if (!operators)
        return operators.error();
    auto choice = chooseOptions(*table, *operators, origin);
    if (!choice)
        return choice.error();
    outcome.plan.emplace();
    outcome.plan->table = std::move(*table);
    outcome.plan->choice = std::move(*choice);
    if (auto problem = readFigures(root, origin, outcome, claims))
        return problem;
    // The file claims the sum of exposed communication; how it spreads over the units follows from the plan.
    outcome.plan->time.exposedByUnit = stepTime(outcome.plan->table, outcome.plan->choice).exposedByUnit;
    if (auto problem = readMemory(root, origin, true, outcome, claims))
        return problem;
    const auto& model = *saved.document.setup.model;
    for (std::size_t i = 0; i < operators->size(); ++i) {
        if ((*operators)[i].parameters != model.operators[i].parameterCount())
            saved.violations.push_back(fmt::format("operators[{}] '{}' says {} parameters and the model has {}", i, model.operators[i].name,
                                                   (*operators)[i].parameters, model.operators[i].parameterCount()));
    }
    return {};
}

std::optional<Error> readInfeasible(const Json& root, std::string_view origin, PlanOutcome& outcome)
{
    const auto& json = member(root, "infeasible");
    if (!json.is_object())
        return invalidInput(fmt::format("{}, key 'infeasible' is not an object; save the plan again", origin));
    Fields fields(json, fmt::format("{}, infeasible", origin));
    Infeasibility why;
    why.leastBudget = Bytes(fields.whole("least_budget_bytes", 0, INT64_MAX));
    if (const auto& because = member(json, "because"); because.is_array()) {
        for (const auto& sentence : because) {
            if (sentence.is_string())
                why.because.push_back(sentence.get<std::string>());
        }
    }
    outcome.infeasible = std::move(why);
    return fields.fault();
}

} // namespace

Result<SavedPlan> readPlan(std::string_view text, std::string_view origin)
{
    auto root = parseFormat(text, origin, "plan", 1);
    if (!root)
        return root.error();
    SavedPlan saved;
    auto& document = saved.document;
    auto setup = readSetupJson(member(*root, "setup"), origin);
    if (!setup)
        return setup.error();
    document.setup = std::move(setup->setup);
    document.pins = std::move(setup->pins);
    Fields fields(*root, std::string(origin));
    document.setup.batch = fields.whole("batch", 1, 1'000'000);
    document.setup.accumulation = fields.whole("accumulation", 1, 1'000'000);
    Claims claims;
    claims.ranks = fields.whole("ranks", 1, 1'000'000);
    const auto sequence = fields.whole("sequence", 1, 1LL << 31);
    document.outcome.work = fields.whole("work", 0, INT64_MAX, 0);
    const auto word = fields.text("status");
    if (fields.fault())
        return *fields.fault();
    if (sequence != document.setup.sequence)
        saved.violations.push_back(fmt::format("sequence says {} and the setup has {}", sequence, document.setup.sequence));
    const auto status = readStatus(word, origin);
    if (!status)
        return status.error();
    document.outcome.status = *status;
    if (const auto& provenance = member(*root, "provenance"); provenance.is_object()) {
        Fields said(provenance, fmt::format("{}, provenance", origin));
        document.provenance = {said.text("model", ""), said.text("cluster", ""), said.text("profile", "estimated")};
        if (said.fault())
            return *said.fault();
    }
    if (*status == SearchStatus::Infeasible) {
        if (auto problem = readMemory(*root, origin, false, document.outcome, claims))
            return *problem;
        if (auto problem = readInfeasible(*root, origin, document.outcome))
            return *problem;
        return saved;
    }
    if (auto problem = readFeasible(*root, origin, saved, claims))
        return *problem;
    compareClaims(document.outcome, claims, saved.violations);
    return saved;
}

Result<SavedPlan> loadPlan(const std::string& path)
{
    auto text = readFile(path);
    if (!text)
        return text.error();
    return readPlan(*text, fmt::format("'{}'", path));
}

std::vector<std::string> planViolations(const SavedPlan& plan)
{
    auto violations = plan.violations;
    const auto& outcome = plan.document.outcome;
    if (!outcome.plan) {
        const auto table = buildCostTable(plan.document.setup);
        if (!table)
            violations.push_back(table.error().message);
        return violations;
    }
    for (auto& violation : checkPlan(outcome).violations)
        violations.push_back(std::move(violation));
    const auto allowed = allowedOptions(outcome.plan->table, plan.document.pins);
    if (!allowed) {
        violations.push_back(allowed.error().message);
        return violations;
    }
    for (std::size_t unit = 0; unit < allowed->size(); ++unit) {
        const auto& options = (*allowed)[unit];
        if (std::find(options.begin(), options.end(), outcome.plan->choice[unit]) == options.end())
            violations.push_back(fmt::format("'{}' does not heed the pins", outcome.plan->table.units[unit].name));
    }
    return violations;
}

} // namespace loadline
