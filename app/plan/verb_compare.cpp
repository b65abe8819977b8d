// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/stored.hpp"
#include "app/plan/table.hpp"
#include "app/plan/verbs.hpp"

#include "core/base/text.hpp"
#include "core/exchange/compare.hpp"

#include <fmt/format.h>

namespace loadline {
namespace {

std::string label(const std::optional<Strategy>& strategy, std::int64_t ranks)
{
    return strategy ? strategyLabel(*strategy, ranks) : std::string("not there");
}

std::string comparisonText(const PlanComparison& comparison, const PlanDocument& before, const PlanDocument& after)
{
    std::string text;
    for (const auto& reason : comparison.incomparable)
        text += wrapped(reason, "");
    const auto line = [&](std::string_view what, const std::string& a, const std::string& b) {
        text += fmt::format("{}: {} -> {}\n", what, a, b);
    };
    const std::string none = "nothing fits";
    line("step", comparison.stepBefore ? formatSeconds(*comparison.stepBefore) : none,
         comparison.stepAfter ? formatSeconds(*comparison.stepAfter) : none);
    line("peak", comparison.peakBefore ? formatBytes(*comparison.peakBefore) : none,
         comparison.peakAfter ? formatBytes(*comparison.peakAfter) : none);
    for (const auto& setting : comparison.settings)
        text += wrapped(setting, "");
    text += fmt::format("{} operators are the same, {} differ.\n", comparison.sameOperators, comparison.operators.size());
    if (comparison.operators.empty())
        return text;
    TextTable table({{"operator", TextTable::Align::Left},
                     {"parameters", TextTable::Align::Right},
                     {"before", TextTable::Align::Left},
                     {"after", TextTable::Align::Left}});
    for (const auto& difference : comparison.operators)
        table.add({difference.name, formatCount(static_cast<double>(difference.parameters)),
                   label(difference.before, before.setup.cluster.ranks()), label(difference.after, after.setup.cluster.ranks())});
    return text + '\n' + table.text();
}

} // namespace

Result<Answer> runCompare(const Arguments& arguments)
{
    Answer answer;
    const auto before = loadPlanOrSession(arguments.files[0], arguments, answer.words);
    if (!before)
        return before.error();
    const auto after = loadPlanOrSession(arguments.files[1], arguments, answer.words);
    if (!after)
        return after.error();
    const auto comparison = comparePlans(before->document, after->document);
    answer.text = arguments.json ? comparisonJson(comparison) : comparisonText(comparison, before->document, after->document);
    for (std::size_t i = 0; i < 2; ++i) {
        const auto& violations = (i == 0 ? before : after)->violations;
        if (!violations.empty())
            answer.words.push_back(fmt::format("'{}' contradicts itself ({}); run check on it", arguments.files[i], violations.front()));
    }
    return answer;
}

} // namespace loadline
