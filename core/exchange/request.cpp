// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/request.hpp"

#include "core/base/text.hpp"
#include "core/cluster/library.hpp"
#include "core/cluster/recipe.hpp"
#include "core/cost/profile.hpp"
#include "core/model/lora.hpp"
#include "core/model/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cmath>
#include <memory>

namespace loadline {
namespace {

constexpr std::int64_t kMostBatch = 1'000'000;
constexpr std::int64_t kMostSequence = 1LL << 31;
constexpr std::size_t kMostChoices = 16; ///< granularities or groups: each multiplies the options of every operator

template <class T>
struct Word {
    std::string_view text;
    T value;
};
constexpr std::array kUnits{Word<UnitKind>{"operator", UnitKind::Operator}, Word<UnitKind>{"part", UnitKind::Part},
                            Word<UnitKind>{"block", UnitKind::Block}};
constexpr std::array kMemories{Word<MemoryMode>{"timeline", MemoryMode::Timeline}, Word<MemoryMode>{"paper", MemoryMode::Paper}};
constexpr std::array kTimes{Word<TimeMode>{"serial", TimeMode::Serial}, Word<TimeMode>{"overlap", TimeMode::Overlap}};
constexpr std::array kAttentions{Word<AttentionKind>{"auto", AttentionKind::Auto}, Word<AttentionKind>{"flash", AttentionKind::Flash},
                                 Word<AttentionKind>{"efficient", AttentionKind::Efficient},
                                 Word<AttentionKind>{"math", AttentionKind::Math}, Word<AttentionKind>{"eager", AttentionKind::Eager}};
constexpr std::array kParts{Word<RecomputedPart>{"block", RecomputedPart::Block},
                            Word<RecomputedPart>{"attention", RecomputedPart::Attention}, Word<RecomputedPart>{"mlp", RecomputedPart::Mlp}};
/// What may be recomputed, and of what: `count` parts of `parts`.
struct Recomputation {
    Recompute recompute = Recompute::Off;
    std::size_t count = 1;
    std::array<RecomputedPart, 3> parts{RecomputedPart::Block, RecomputedPart::Attention, RecomputedPart::Mlp};
};
constexpr std::array kRecomputes{Word<Recomputation>{"off", {Recompute::Off}},
                                 Word<Recomputation>{"auto", {Recompute::Auto}},
                                 Word<Recomputation>{"all", {Recompute::All}},
                                 Word<Recomputation>{"attention", {Recompute::Auto, 1, {RecomputedPart::Attention}}},
                                 Word<Recomputation>{"mlp", {Recompute::Auto, 1, {RecomputedPart::Mlp}}},
                                 Word<Recomputation>{"parts", {Recompute::Auto, 3}}};

Error wrong(std::string_view flag, std::string_view value, std::string_view expected)
{
    return invalidInput(fmt::format("{} is '{}'; give {}", flag, value.substr(0, 80), expected));
}

template <class T, std::size_t N>
Result<T> resolveWord(const std::array<Word<T>, N>& words, std::string_view flag, const std::string& value)
{
    std::string known;
    for (std::size_t i = 0; i < N; ++i) {
        if (words[i].text == value)
            return words[i].value;
        known += fmt::format("{}{}", i == 0 ? "" : i + 1 == N ? " or " : ", ", words[i].text);
    }
    return wrong(flag, value, known);
}

template <class T, std::size_t N>
std::string_view wordOf(const std::array<Word<T>, N>& words, T value)
{
    for (const auto& word : words) {
        if (word.value == value)
            return word.text;
    }
    return words[0].text;
}

Result<std::int64_t> wholeNumber(std::string_view flag, std::string_view text, std::int64_t least, std::int64_t most)
{
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end || value < least || value > most)
        return wrong(flag, text, fmt::format("a whole number from {} to {}", least, most));
    return value;
}

Result<std::vector<std::int64_t>> wholeNumbers(std::string_view flag, const std::string& text, std::int64_t most)
{
    std::vector<std::int64_t> numbers;
    for (const auto& part : split(text, ',')) {
        const auto value = wholeNumber(flag, part, 1, most);
        if (!value)
            return wrong(flag, text, fmt::format("whole numbers from 1 to {} with commas between, like 1,2,4,8", most));
        numbers.push_back(*value);
    }
    if (numbers.size() > kMostChoices)
        return wrong(flag, text, fmt::format("at most {} numbers", kMostChoices));
    return numbers;
}

Result<std::shared_ptr<const Model>> resolveModel(const RequestOptions& options)
{
    auto model = loadModel(options.model);
    if (!model)
        return model.error();
    if (options.lora.empty())
        return std::make_shared<const Model>(std::move(*model));
    auto adapted = applyLora(std::move(*model), options.lora);
    if (!adapted)
        return adapted.error();
    return std::make_shared<const Model>(std::move(*adapted));
}

/// Batch, accumulation and global batch: three numbers of which one follows from the others.
std::optional<Error> resolveBatch(const RequestOptions& options, PlanRequest& request)
{
    request.chooseBatch = options.batch == "auto" || options.batch.empty();
    if (!request.chooseBatch) {
        const auto batch = wholeNumber("--batch", options.batch, 1, kMostBatch);
        if (!batch)
            return batch.error();
        request.setup.batch = *batch;
    }
    request.chooseAccumulation = options.accumulation == "auto" || (options.accumulation.empty() && options.globalBatch);
    if (!request.chooseAccumulation && !options.accumulation.empty()) {
        const auto steps = wholeNumber("--accumulation", options.accumulation, 1, kMostBatch);
        if (!steps)
            return steps.error();
        request.setup.accumulation = *steps;
    }
    if (!options.globalBatch)
        return {};
    request.globalBatch = *options.globalBatch;
    const auto ranks = request.setup.cluster.ranks();
    const auto given = (request.chooseBatch ? 1 : request.setup.batch) * (request.chooseAccumulation ? 1 : request.setup.accumulation);
    if (request.globalBatch < 1 || request.globalBatch % ranks != 0 || (request.globalBatch / ranks) % given != 0)
        return wrong("--global-batch", std::to_string(request.globalBatch),
                     fmt::format("a multiple of {} (ranks x batch x accumulation)", ranks * given));
    const auto each = request.globalBatch / ranks;
    if (!request.chooseBatch && request.chooseAccumulation) {
        request.setup.accumulation = each / request.setup.batch;
        request.chooseAccumulation = false;
    } else if (!request.chooseBatch && each != given) {
        return wrong("--global-batch", std::to_string(request.globalBatch),
                     fmt::format("{} = ranks x batch x accumulation, or leave one out", ranks * given));
    }
    return {};
}

std::optional<Error> resolveModes(const RequestOptions& options, Setup& setup)
{
    const auto unit = resolveUnit(options.unit);
    const auto memory = resolveMemory(options.memory);
    const auto time = resolveTime(options.time);
    const auto attention = resolveAttention(options.attention);
    const auto rules = resolveRuntime(options.runtime);
    if (!unit)
        return unit.error();
    if (!memory)
        return memory.error();
    if (!time)
        return time.error();
    if (!attention)
        return attention.error();
    if (!rules)
        return rules.error();
    setup.unit = *unit;
    setup.memory = *memory;
    setup.time = *time;
    setup.attention = *attention;
    setup.rules = *rules;
    return {};
}

std::optional<Error> resolveSizes(const RequestOptions& options, Setup& setup)
{
    setup.sequence = options.sequence.value_or(setup.model->defaultSequence);
    if (setup.sequence < 1 || setup.sequence > kMostSequence)
        return wrong("--sequence", std::to_string(setup.sequence), fmt::format("a whole number from 1 to {}", kMostSequence));
    if (options.dropout != "config") {
        double share = 0;
        const char* end = options.dropout.data() + options.dropout.size();
        const auto [stop, error] = std::from_chars(options.dropout.data(), end, share);
        if (error != std::errc{} || stop != end || !std::isfinite(share) || share < 0 || share > 1)
            return wrong("--dropout", options.dropout, "config, or a share from 0 to 1");
        setup.dropout = share;
    }
    const auto granularities = wholeNumbers("--granularity", options.granularity, 1024);
    if (!granularities)
        return granularities.error();
    setup.granularities.assign(granularities->begin(), granularities->end());
    if (options.groups != "auto") {
        const auto groups = wholeNumbers("--groups", options.groups, kMostRanks);
        if (!groups)
            return groups.error();
        setup.groups = *groups;
    }
    if (!options.overhead.empty()) {
        const auto overhead = parseBytes(options.overhead);
        if (!overhead)
            return invalidInput("--overhead: " + overhead.error().message);
        setup.overhead = *overhead;
    }
    return {};
}

} // namespace

Result<Cluster> resolveCluster(const RequestOptions& options)
{
    auto cluster = loadCluster(options.cluster);
    if (!cluster)
        return cluster;
    const auto apply = [](std::string_view flag, const std::optional<std::int64_t>& given, std::int64_t& target) -> std::optional<Error> {
        if (!given)
            return {};
        if (*given < 1 || *given > kMostRanks)
            return wrong(flag, std::to_string(*given), fmt::format("a whole number from 1 to {}", kMostRanks));
        target = *given;
        return {};
    };
    if (auto problem = apply("--nodes", options.nodes, cluster->nodes))
        return *problem;
    if (auto problem = apply("--gpus-per-node", options.gpusPerNode, cluster->gpusPerNode))
        return *problem;
    if (cluster->ranks() > kMostRanks)
        return invalidInput(fmt::format("--nodes {} x --gpus-per-node {} is more than {} ranks; give fewer", cluster->nodes,
                                        cluster->gpusPerNode, kMostRanks));
    return cluster;
}

Result<std::vector<Pin>> resolvePins(const std::vector<std::string>& pins)
{
    std::vector<Pin> result;
    for (const auto& text : pins) {
        const auto equals = text.rfind('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
            return wrong("--pin", text, "PATTERN=STRATEGY, like '*.mlp.*=zdp/4'");
        result.push_back({text.substr(0, equals), text.substr(equals + 1)});
    }
    return result;
}

Result<RuntimeRules> resolveRuntime(const std::string& name)
{
    for (auto rules : {loadlineRules(), fsdp2Rules(), osdpReleaseRules()}) {
        if (rules.name == name)
            return rules;
    }
    return wrong("--runtime", name, "loadline, fsdp2 or osdp-release");
}

std::string_view unitWord(UnitKind unit)
{
    return wordOf(kUnits, unit);
}
std::string_view memoryWord(MemoryMode mode)
{
    return wordOf(kMemories, mode);
}
std::string_view timeWord(TimeMode mode)
{
    return wordOf(kTimes, mode);
}
std::string_view attentionWord(AttentionKind kind)
{
    return wordOf(kAttentions, kind);
}
Result<UnitKind> resolveUnit(const std::string& word)
{
    return resolveWord(kUnits, "--unit", word);
}
Result<MemoryMode> resolveMemory(const std::string& word)
{
    return resolveWord(kMemories, "--memory", word);
}
Result<TimeMode> resolveTime(const std::string& word)
{
    return resolveWord(kTimes, "--time", word);
}
Result<AttentionKind> resolveAttention(const std::string& word)
{
    return resolveWord(kAttentions, "--attention", word);
}

std::string_view recomputedPartWord(RecomputedPart part)
{
    return wordOf(kParts, part);
}

Result<RecomputedPart> resolveRecomputedPart(const std::string& word)
{
    return resolveWord(kParts, "recomputed_part", word);
}

Result<ResolvedRequest> resolveRequest(const RequestOptions& options)
{
    auto model = resolveModel(options);
    if (!model)
        return model.error();
    return resolveRequest(options, *std::move(model));
}

Result<ResolvedRequest> resolveRequest(const RequestOptions& options, std::shared_ptr<const Model> model)
{
    ResolvedRequest resolved;
    auto& request = resolved.request;
    auto& setup = request.setup;
    setup.model = std::move(model);
    auto cluster = resolveCluster(options);
    if (!cluster)
        return cluster.error();
    setup.cluster = *cluster;
    const auto precision = loadPrecision(options.precision);
    if (!precision)
        return precision.error();
    setup.precision = *precision;
    const auto optimizer = loadOptimizer(options.optimizer);
    if (!optimizer)
        return optimizer.error();
    setup.optimizer = *optimizer;
    if (auto problem = resolveModes(options, setup))
        return *problem;
    if (auto problem = resolveSizes(options, setup))
        return *problem;
    if (auto problem = resolveBatch(options, request))
        return *problem;
    const auto budget = parseBudget(options.budget, setup.cluster.device.memory);
    if (!budget)
        return invalidInput("--budget: " + budget.error().message);
    request.budget = *budget;
    const auto pins = resolvePins(options.pins);
    if (!pins)
        return pins.error();
    request.pins = *pins;
    const auto recompute = resolveWord(kRecomputes, "--recompute", options.recompute);
    if (!recompute)
        return recompute.error();
    request.recompute = recompute->recompute;
    request.recomputedParts.assign(recompute->parts.begin(), recompute->parts.begin() + static_cast<std::ptrdiff_t>(recompute->count));
    if (options.work) {
        if (*options.work < 1)
            return wrong("--work", std::to_string(*options.work), "a whole number from 1");
        request.limits.work = *options.work;
    }
    resolved.provenance = {setup.model->name,
                           fmt::format("{}, {} x {}", setup.cluster.name, setup.cluster.nodes, setup.cluster.gpusPerNode), "estimated"};
    if (!options.profile.empty()) {
        auto profile = loadProfile(options.profile);
        if (!profile)
            return profile.error();
        setup.profile = std::make_shared<const Profile>(std::move(*profile));
        resolved.provenance.profile = fmt::format("'{}': {}", options.profile, setup.profile->provenance());
    }
    return resolved;
}

} // namespace loadline
