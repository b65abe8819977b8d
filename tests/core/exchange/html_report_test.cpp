// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/html_report.hpp"

#include "core/exchange/svg.hpp"
#include "core/plan/baselines.hpp"
#include "core/plan/trade_off.hpp"

#include <gtest/gtest.h>

#include <regex>

using namespace loadline;

namespace {

PlanDocument planned()
{
    RequestOptions options;
    options.model = "gpt2-small";
    options.budget = "12GiB";
    options.sequence = 512;
    options.batch = "4";
    const auto resolved = resolveRequest(options);
    PlanDocument document;
    document.outcome = *makePlan(resolved->request);
    document.setup = document.outcome.plan->table.setup;
    document.provenance = resolved->provenance;
    document.baselines = baselines(document.outcome.plan->table, document.outcome.budget);
    return document;
}

} // namespace

TEST(HtmlReport, HoldsThePlanUnchanged)
{
    const PlanDocument document = planned();
    const std::string page = htmlReport(document, {});
    const auto read = readHtmlReport(page, "report.html");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(planViolations(*read).empty());
    EXPECT_EQ(read->document.outcome.plan->choice, document.outcome.plan->choice);
    EXPECT_EQ(read->document.outcome.plan->peak, document.outcome.plan->peak);
    EXPECT_FALSE(readHtmlReport("<html></html>", "other.html"));
    EXPECT_FALSE(readHtmlReport(page.substr(0, page.size() / 2), "cut.html"));
}

TEST(HtmlReport, NeedsNothingFromElsewhere)
{
    const std::string page = htmlReport(planned(), {});
    // Names of formats may look like addresses; nothing may be loaded from one.
    EXPECT_FALSE(std::regex_search(page, std::regex(R"((src|href)\s*=)")));
    EXPECT_EQ(page.find("@import"), std::string::npos);
    EXPECT_EQ(page.find("url("), std::string::npos);
}

TEST(HtmlReport, DrawsTheTimelineThatWasPlanned)
{
    const PlanDocument document = planned();
    const Plan& plan = *document.outcome.plan;
    PlanRequest request;
    request.setup = plan.table.setup;
    const auto stair = tradeOff(request, 20);
    ASSERT_TRUE(stair);
    const std::string page = htmlReport(document, *stair);
    const Timeline timeline = playTimeline(plan.table, plan.choice);
    std::size_t bars = 0;
    for (std::size_t at = page.find("class=\"parameters\""); at != std::string::npos; at = page.find("class=\"parameters\"", at + 1))
        ++bars;
    EXPECT_EQ(bars, timeline.events.size() + 1); // and the legend
    EXPECT_NE(page.find("class=\"stair\""), std::string::npos);
    for (const Unit& unit : plan.table.units)
        EXPECT_NE(page.find("<td>" + unit.name + "</td>"), std::string::npos);
}

TEST(HtmlReport, NamesCannotBreakThePage)
{
    EXPECT_EQ(xmlText("<b>&\"x\""), "&lt;b&gt;&amp;&quot;x&quot;");
    EXPECT_EQ(xmlText("a\xff\x01z"), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
    EXPECT_EQ(xmlText("\xE2\x86\x92"), "\xE2\x86\x92");
    PlanDocument document = planned();
    auto model = std::make_shared<Model>(*document.setup.model);
    model->name = "</script><script>alert(1)</script>";
    document.setup.model = model;
    document.outcome.plan->table.setup.model = model;
    const std::string page = htmlReport(document, {});
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
    const auto read = readHtmlReport(page, "report.html");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->document.setup.model->name, model->name);
}
