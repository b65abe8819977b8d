// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/derivation.hpp"

#include "core/cluster/library.hpp"
#include "core/model/reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

using namespace loadline;

namespace {

Setup setupOf(const std::string& model, const RuntimeRules& rules, const char* precision, const char* optimizer)
{
    Setup setup;
    setup.model = std::make_shared<const Model>(*loadModel(model));
    setup.cluster = bundledClusters().front();
    setup.precision = *loadPrecision(precision);
    setup.optimizer = *loadOptimizer(optimizer);
    setup.rules = rules;
    setup.sequence = 128;
    setup.batch = 2;
    setup.accumulation = 3;
    setup.recomputedBlocks = 1;
    return setup;
}

/// Bytes count, seconds in seconds; 0 for a figure that is left out.
double resultOf(const std::vector<Derivation>& lines, const std::string& what)
{
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const Derivation& line) { return line.what == what; });
    if (found == lines.end())
        return 0;
    if (const auto* bytes = std::get_if<Bytes>(&found->result))
        return static_cast<double>(bytes->count());
    return std::get<Seconds>(found->result).value();
}

void expectEqual(const CostTable& table, std::size_t unit, std::size_t option)
{
    const OptionCost& cost = table.options(unit)[option];
    const auto lines = derivations(table, unit, option);
    const std::string backward = cost.strategy.recompute ? "backward and recomputed forward" : "backward compute";
    const std::map<std::string, double> expected{
        {"weights", double(cost.parameters.count())},
        {"optimizer state", double(cost.optimizer.count())},
        {"gradients", double(cost.gradients.count())},
        {"gathered copy", double(cost.gathered.count())},
        {"forward compute", cost.forwardCompute.value()},
        {backward, cost.backwardCompute.value()},
        {"optimizer step", cost.step.value()},
        {"saved for backward", double(cost.saved.count())},
        {"gather for forward", cost.gatherForward.value()},
        {"reduction of gradients", cost.reduce.value()},
    };
    for (const auto& [what, value] : expected)
        EXPECT_NEAR(resultOf(lines, what), value, 1e-12 * value) << what << " of " << table.units[unit].name << ", option " << option;
    for (const Derivation& line : lines) {
        EXPECT_FALSE(line.formula.empty());
        EXPECT_FALSE(line.values.empty());
    }
}

} // namespace

TEST(Derivation, EqualsEveryOption)
{
    const std::vector<loadline::Setup> setups{setupOf("gpt-tiny", loadlineRules(), "bf16-mixed", "adamw"),
                                              setupOf("gpt-tiny", fsdp2Rules(), "fp32", "sgd-momentum"),
                                              setupOf("gpt-tiny", loadlineRules(), "fp16-mixed", "adafactor")};
    for (const loadline::Setup& setup : setups) {
        const auto table = buildCostTable(setup);
        ASSERT_TRUE(table) << table.error().message;
        for (std::size_t unit = 0; unit < table->units.size(); ++unit) {
            for (std::size_t option = 0; option < table->options(unit).size(); ++option)
                expectEqual(*table, unit, option);
        }
    }
}

TEST(Derivation, ShowsTheValuesThatWerePutIn)
{
    const auto table = buildCostTable(setupOf("gpt-tiny", loadlineRules(), "fp32", "adamw"));
    ASSERT_TRUE(table);
    const auto unit = std::find_if(table->units.begin(), table->units.end(), [](const Unit& each) { return each.parameters > 1000; });
    const auto lines = derivations(*table, static_cast<std::size_t>(unit - table->units.begin()), 0);
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.front().what, "weights");
    EXPECT_NE(lines.front().values.find("x 4 B"), std::string::npos) << lines.front().values;
}
