// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/cost_table.hpp"
#include "core/model/reader.hpp"
#include "small_models.hpp"

#include <set>
#include <string>

namespace loadline {
namespace {

using small::linear;

std::set<std::string> labels(const CostTable& table, const std::string& unit)
{
    std::set<std::string> found;
    for (const OptionCost& option : table.options(small::unitNamed(table, unit)))
        EXPECT_TRUE(found.insert(strategyLabel(option.strategy, table.setup.cluster.ranks())).second);
    return found;
}

std::vector<std::string> names(const CostTable& table)
{
    std::vector<std::string> all;
    for (const Unit& unit : table.units)
        all.push_back(unit.name);
    return all;
}

// --- units -------------------------------------------------------------------------------------------------------

TEST(CostTableUnits, OperatorsPartsAndBlocks)
{
    auto setup = small::setup(small::stack(2, false));
    EXPECT_EQ(small::table(setup).units.size(), setup.model->operators.size());
    setup.unit = UnitKind::Part;
    EXPECT_EQ(names(small::table(setup)), (std::vector<std::string>{"embed", "layers.0.attention", "layers.0.mlp", "layers.1.attention",
                                                                    "layers.1.mlp", "norm", "head", "loss"}));
    setup.unit = UnitKind::Block;
    EXPECT_EQ(names(small::table(setup)), (std::vector<std::string>{"embed", "layers.0", "layers.1", "norm", "head", "loss"}));
}

TEST(CostTableUnits, EveryOperatorRunsOnceAndEveryParameterIsHeldOnce)
{
    for (const RuntimeRules& rules : {loadlineRules(), fsdp2Rules(), osdpReleaseRules()})
        for (const UnitKind kind : {UnitKind::Operator, UnitKind::Part, UnitKind::Block})
            for (const bool tied : {false, true}) {
                auto setup = small::setup(small::stack(3, tied), 8, rules);
                setup.unit = kind;
                const CostTable table = small::table(setup);
                std::vector<int> runs(setup.model->operators.size(), 0);
                std::int64_t parameters = 0;
                for (const Unit& unit : table.units) {
                    EXPECT_FALSE(unit.operators.empty());
                    for (const std::size_t op : unit.operators)
                        ++runs[op];
                    parameters += unit.parameters;
                }
                EXPECT_EQ(std::count(runs.begin(), runs.end(), 1), static_cast<std::ptrdiff_t>(runs.size()));
                EXPECT_EQ(parameters, setup.model->parameterCount());
            }
}

/// docs/sources.md, FSDP2 2.11: a tied head stays in the root, an own one is a unit where every linear is.
TEST(CostTableUnits, RootOfFsdp2HoldsWhatNoUnitWraps)
{
    auto setup = small::setup(small::stack(2, false), 8, fsdp2Rules());
    const CostTable operators = small::table(setup);
    const Unit& root = operators.units.front();
    EXPECT_TRUE(root.root);
    EXPECT_EQ(root.name, "root");
    EXPECT_EQ(root.parameters, 1009 * 64 + 5 * 64); // embedding and norms
    EXPECT_GT(operators.units[small::unitNamed(operators, "head")].parameters, 0);
    setup.unit = UnitKind::Block;
    const CostTable blocks = small::table(setup);
    EXPECT_EQ(blocks.units.front().parameters, 2 * 1009 * 64 + 64);
    EXPECT_EQ(blocks.units[small::unitNamed(blocks, "head")].parameters, 0);
    EXPECT_EQ(labels(blocks, "root"), (std::set<std::string>{"dp", "zdp"}));

    auto tied = small::setup(small::stack(2, true), 8, fsdp2Rules());
    const CostTable table = small::table(tied);
    EXPECT_TRUE(table.units[small::unitNamed(table, "head")].borrows.empty());
    EXPECT_EQ(table.units.front().parameters, 1009 * 64 + 5 * 64);

    tied.cluster.gpusPerNode = 1;
    for (const Unit& unit : small::table(tied).units)
        EXPECT_FALSE(unit.root);
}

TEST(CostTableUnits, NamesAreUnique)
{
    auto setup = small::setup({small::norm("same", 8, 0), small::norm("same", 8, 1), small::norm("same", 8, 2)});
    const auto all = names(small::table(setup));
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 3U);
}

// --- options -----------------------------------------------------------------------------------------------------

TEST(CostTableOptions, WhatTheClusterAndTheOperatorOffer)
{
    auto setup = small::setup(small::stack(1, false), 8);
    setup.cluster = small::cluster(2, 4);
    setup.granularities = {1, 2};
    const CostTable table = small::table(setup);
    EXPECT_EQ(labels(table, "layers.0.up"),
              (std::set<std::string>{"dp", "d4", "d4+keep", "d4:1of2", "d4/2", "zdp", "zdp+keep", "1of2", "zdp/2"}));
    EXPECT_EQ(labels(table, "layers.0.norm_1"), (std::set<std::string>{"dp", "d4", "d4+keep", "zdp", "zdp+keep"}));
    EXPECT_EQ(labels(table, "loss"), (std::set<std::string>{"dp"}));
    setup.groups = {1, 2};
    EXPECT_EQ(labels(small::table(setup), "norm"), (std::set<std::string>{"dp", "d2", "d2+keep"}));
    setup.unit = UnitKind::Block;
    EXPECT_EQ(labels(small::table(setup), "layers.0"), (std::set<std::string>{"dp", "d2", "d2+keep"}));
}

TEST(CostTableOptions, OneGpuHasNothingToShard)
{
    for (const RuntimeRules& rules : {loadlineRules(), fsdp2Rules(), osdpReleaseRules()}) {
        const CostTable table = small::table(small::setup(small::stack(2, false), 1, rules));
        for (std::size_t i = 0; i < table.units.size(); ++i) {
            ASSERT_EQ(table.options(i).size(), 1U);
            EXPECT_EQ(table.options(i).front().communication(), Seconds(0));
        }
    }
}

TEST(CostTableOptions, TooNarrowLinearsAreNotSplitAndUnevenOnesAre)
{
    auto setup = small::setup({linear("layers.0.narrow", 3, 50, 0), linear("layers.0.uneven", 10, 50, 0, true)}, 8);
    setup.granularities = {1, 2, 4, 8};
    const CostTable table = small::table(setup);
    EXPECT_TRUE(labels(table, "layers.0.narrow").contains("zdp/2"));
    EXPECT_FALSE(labels(table, "layers.0.narrow").contains("zdp/4"));
    // 10 inputs in 4 slices: 3, 3, 2, 2; the bias goes with the first.
    const OptionCost& split = small::cost(table, "layers.0.uneven", "2of4");
    const std::int64_t first = ceilDiv(3 * 50 + 50, 8);
    const std::int64_t second = ceilDiv(3 * 50, 8);
    EXPECT_EQ(split.parameters, Bytes(4 * (first + second + 100 + 100)));
    EXPECT_EQ(split.gathered, Bytes(4 * first * 8));
}

TEST(CostTableOptions, RecomputationIsSetForTheFirstBlocks)
{
    auto setup = small::setup(small::stack(3, false));
    setup.recomputedBlocks = 2;
    const CostTable table = small::table(setup);
    for (std::size_t i = 0; i < table.units.size(); ++i)
        for (const OptionCost& option : table.options(i))
            EXPECT_EQ(option.strategy.recompute, table.units[i].layer == 0 || table.units[i].layer == 1);
}

// --- states ------------------------------------------------------------------------------------------------------

/// A shard never counts less than the truth, whatever the ranks and sizes.
TEST(CostTableStates, ShardsCoverTheWhole)
{
    for (const std::int64_t ranks : {1, 2, 3, 5, 7, 8, 1024, 100000})
        for (const RuntimeRules& rules : {loadlineRules(), fsdp2Rules()}) {
            auto setup = small::setup(small::stack(1, false, 24, 50257), ranks, rules);
            const CostTable table = small::table(setup);
            for (std::size_t i = 0; i < table.units.size(); ++i)
                for (const OptionCost& option : table.options(i)) {
                    const std::int64_t group = option.strategy.group;
                    ASSERT_GE(option.parameters.count() * group, 4 * table.units[i].parameters);
                    ASSERT_LE(option.parameters.count(), 4 * table.units[i].parameters);
                    ASSERT_GE(option.optimizer.count() * group, 8 * table.units[i].parameters);
                    ASSERT_GE((option.gathered + option.kept + option.keptToEnd).count() * option.strategy.slices,
                              option.strategy.replicated() ? 0 : 4 * table.units[i].parameters);
                }
            ASSERT_GT(timelinePeak(table, Choice(table.units.size(), 0)), Bytes(0));
        }
}

TEST(CostTableStates, BytesFollowTheRecipes)
{
    auto setup = small::setup({linear("layers.0.up", 100, 100, 0)}, 8);
    const auto states = [&](const char* precision, const char* optimizer) {
        setup.precision = *loadPrecision(precision);
        setup.optimizer = *loadOptimizer(optimizer);
        return small::cost(small::table(setup), "layers.0.up", "dp").states();
    };
    EXPECT_EQ(states("fp32", "adamw"), Bytes(16 * 10000));
    EXPECT_EQ(states("bf16-mixed", "adamw"), Bytes(16 * 10000));
    EXPECT_EQ(states("bf16", "adamw"), Bytes(8 * 10000));
    EXPECT_EQ(states("fp16-mixed", "adamw"), Bytes(16 * 10000));
    EXPECT_EQ(states("fp32", "sgd"), Bytes(8 * 10000));
    EXPECT_EQ(states("fp32", "sgd-momentum"), Bytes(12 * 10000));
}

TEST(CostTableStates, AdafactorKeepsRowsAndColumns)
{
    auto setup = small::setup({linear("layers.0.up", 100, 60, 0, true)}, 8);
    setup.optimizer = OptimizerRecipe{};
    setup.optimizer.state = 0;
    setup.optimizer.factored = true;
    EXPECT_EQ(small::cost(small::table(setup), "layers.0.up", "dp").optimizer, Bytes(4 * (100 + 60 + 60)));
}

TEST(CostTableStates, FrozenParametersHaveWeightsOnly)
{
    Operator frozen = linear("layers.0.up", 64, 64, 0);
    frozen.parameters[0].trainable = false;
    const CostTable table = small::table(small::setup({small::embedding("embed", 10, 64), frozen}, 8));
    for (const OptionCost& option : table.options(1)) {
        EXPECT_EQ(option.optimizer, Bytes(0));
        EXPECT_EQ(option.gradients, Bytes(0));
        EXPECT_EQ(option.stepTransient, Bytes(0));
        EXPECT_EQ(option.reduceTransient, Bytes(0));
        EXPECT_EQ(option.reduceBuffer, Bytes(0));
        EXPECT_EQ(option.reduce, Seconds(0));
        EXPECT_EQ(option.backwardGradient, Bytes(0));
        EXPECT_GE(option.parameters.count() * option.strategy.group, 64 * 64 * 4);
    }
}

TEST(CostTableStates, TiedParametersAreCountedOnceAndGatheredTwice)
{
    const CostTable tied = small::table(small::setup(small::stack(1, true), 8));
    const CostTable own = small::table(small::setup(small::stack(1, false), 8));
    EXPECT_EQ(small::cost(tied, "head", "dp").states(), Bytes(0));
    EXPECT_EQ(small::cost(tied, "embed", "zdp").states(), small::cost(own, "embed", "zdp").states());
    EXPECT_DOUBLE_EQ(small::cost(tied, "embed", "zdp").gatherForward.value(), 2 * small::cost(own, "embed", "zdp").gatherForward.value());
    EXPECT_FALSE(labels(tied, "embed").contains("zdp/2"));
}

TEST(CostTableStates, MixedPrecisionRunsFromACopy)
{
    auto setup = small::setup({linear("layers.0.up", 64, 64, 0)}, 8);
    setup.precision = *loadPrecision("bf16-mixed");
    EXPECT_EQ(small::cost(small::table(setup), "layers.0.up", "dp").gathered, Bytes(64 * 64 * 2));
    EXPECT_EQ(small::cost(small::table(setup), "layers.0.up", "zdp").gathered, Bytes(64 * 64 * 2));
    setup.precision = *loadPrecision("fp32");
    EXPECT_EQ(small::cost(small::table(setup), "layers.0.up", "dp").gathered, Bytes(0));
}

// --- whole tables ------------------------------------------------------------------------------------------------

TEST(CostTable, UnitsOfOneClassAreEqualAndRepeatsShareOne)
{
    const CostTable table = small::table(small::setup(small::stack(40, false)));
    EXPECT_LE(table.classOptions.size(), 14U);
    EXPECT_EQ(table.units[small::unitNamed(table, "layers.3.up")].costClass,
              table.units[small::unitNamed(table, "layers.30.up")].costClass);
    EXPECT_NE(table.units[small::unitNamed(table, "layers.3.up")].costClass,
              table.units[small::unitNamed(table, "layers.3.down")].costClass);
    for (std::size_t i = 0; i < table.classOptions.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            EXPECT_NE(table.classOptions[i], table.classOptions[j]);
}

TEST(CostTable, ClassesSharedOrNotTheCostsAreTheSame)
{
    const auto setup = small::setup(small::stack(3, true), 8, fsdp2Rules());
    const CostTable whole = small::table(setup);
    for (const char* layer : {"1", "2"})
        for (const char* name : {"qkv", "out", "up", "down"}) {
            const std::string first = std::string("layers.0.") + name;
            const std::string other = std::string("layers.") + layer + "." + name;
            EXPECT_EQ(whole.options(small::unitNamed(whole, first)), whole.options(small::unitNamed(whole, other)));
        }
}

TEST(CostTable, BundledModelsBuildUnderEveryRuleSetAndUnit)
{
    for (const char* name : {"llama3-8b", "gpt2-xl", "mixtral-8x7b"}) {
        auto model = loadModel(name);
        ASSERT_TRUE(model.ok()) << model.error().message;
        auto setup = small::setup({});
        setup.model = std::make_shared<Model>(*std::move(model));
        setup.sequence = 2048;
        setup.precision = *loadPrecision("bf16-mixed");
        for (const RuntimeRules& rules : {loadlineRules(), fsdp2Rules(), osdpReleaseRules()})
            for (const UnitKind kind : {UnitKind::Operator, UnitKind::Part, UnitKind::Block})
                for (const std::int64_t nodes : {1, 16, 12500}) {
                    setup.rules = rules;
                    setup.unit = kind;
                    setup.cluster = small::cluster(nodes, 8);
                    const CostTable table = small::table(setup);
                    const Bytes dp = timelinePeak(table, Choice(table.units.size(), 0));
                    const Bytes zdp = timelinePeak(table, small::all(table, "zdp"));
                    EXPECT_GT(zdp, Bytes(0));
                    // 100,000 ranks divide neither the experts nor their width: FSDP2 then pads them beyond measure.
                    if (nodes < 1000) {
                        EXPECT_LT(zdp, dp) << name << " " << rules.name;
                    }
                }
    }
}

TEST(CostTable, OneOperatorIsAModel)
{
    for (const RuntimeRules& rules : {loadlineRules(), fsdp2Rules(), osdpReleaseRules()}) {
        const CostTable table = small::table(small::setup({linear("only", 8, 8, -1)}, 8, rules));
        ASSERT_EQ(table.units.size(), 1U);
        EXPECT_EQ(playTimeline(table, {0}).peak, timelinePeak(table, {0}));
        EXPECT_GT(timelinePeak(table, {0}), Bytes(16 * 64));
    }
}

TEST(CostTable, TenThousandDifferentOperators)
{
    std::vector<Operator> all;
    for (int i = 0; i < 10000; ++i)
        all.push_back(linear("layers." + std::to_string(i) + ".up", 64 + i % 97, 1000 + i, i));
    auto setup = small::setup(std::move(all), 8);
    setup.granularities = {1, 4};
    const CostTable table = small::table(setup);
    ASSERT_EQ(table.units.size(), 10000U);
    EXPECT_EQ(table.classOptions.size(), 10000U);
    EXPECT_EQ(playTimeline(table, Choice(10000, 1)).peak, timelinePeak(table, Choice(10000, 1)));
}

// --- what cannot be asked ----------------------------------------------------------------------------------------

std::string refusal(const Setup& setup)
{
    const auto table = buildCostTable(setup);
    EXPECT_FALSE(table.ok());
    return table.ok() ? "" : table.error().message;
}

TEST(CostTableErrors, NameTheSettingThatCannotBe)
{
    const auto good = small::setup(small::stack(1, false), 8);
    const auto with = [&](auto change) {
        auto setup = good;
        change(setup);
        return refusal(setup);
    };
    EXPECT_NE(with([](auto& s) { s.groups = {1, 3}; }).find("3"), std::string::npos);
    EXPECT_NE(with([](auto& s) { s.groups = {0}; }).find("group"), std::string::npos);
    EXPECT_NE(with([](auto& s) { s.groups = {-8}; }).find("group"), std::string::npos);
    EXPECT_NE(with([](auto& s) { s.batch = 0; }).find("batch"), std::string::npos);
    EXPECT_NE(with([](auto& s) { s.batch = -5; }).find("-5"), std::string::npos);
    EXPECT_NE(with([](auto& s) { s.sequence = 0; }).find("sequence"), std::string::npos);
    EXPECT_NE(with([](auto& s) { s.accumulation = 0; }).find("ccumulation"), std::string::npos);
    EXPECT_NE(with([](auto& s) { s.recomputedBlocks = -1; }).find("recomputed"), std::string::npos);
    EXPECT_NE(with([](auto& s) { s.granularities = {0}; }).find("granularity"), std::string::npos);
    EXPECT_NE(with([](auto& s) { s.cluster.nodes = 0; }).find("GPUs"), std::string::npos);
    EXPECT_NE(with([](auto& s) { s.cluster.nodes = std::int64_t{1} << 62; }).find("GPUs"), std::string::npos);
    EXPECT_NE(with([](auto& s) { s.batch = std::int64_t{1} << 61; }).find("2^58"), std::string::npos);
    EXPECT_NE(with([](auto& s) { s.sequence = std::int64_t{1} << 61; }).find("2^58"), std::string::npos);
    EXPECT_NE(with([](auto& s) { s.model = nullptr; }).find("operator"), std::string::npos);
    EXPECT_NE(with([](auto& s) { s.precision.weight = -1; }).find("bytes per parameter"), std::string::npos);
}

TEST(CostTableErrors, SharingWithNobodyAndAbsurdShapes)
{
    auto operators = small::stack(1, true);
    operators[operators.size() - 2].sharesWith = "nobody";
    EXPECT_NE(refusal(small::setup(operators)).find("nobody"), std::string::npos);
    auto weightless = small::setup({small::custom("weightless", 0, 0, 0)});
    weightless.batch = weightless.sequence = std::int64_t{1} << 62;
    EXPECT_NE(refusal(weightless).find("2^58"), std::string::npos);
    Operator huge = linear("huge", 8, 8, -1);
    huge.parameters[0].shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
    EXPECT_NE(refusal(small::setup({huge})).find("2^58"), std::string::npos);
    huge.parameters[0].shape = {-3, 8};
    EXPECT_NE(refusal(small::setup({huge})).find("negative"), std::string::npos);
}

} // namespace
} // namespace loadline
