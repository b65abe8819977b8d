// SPDX-License-Identifier: GPL-3.0-or-later
// Profile, links, run and compare pages: what they show is what they were given.
#include "core/exchange/request.hpp"
#include "views/charts/bar_rows.hpp"
#include "views/charts/line_chart.hpp"
#include "views/charts/measured_memory_chart.hpp"
#include "views/models/compare_model.hpp"
#include "views/pages/compare_page.hpp"
#include "views/pages/links_page.hpp"
#include "views/pages/profile_page.hpp"
#include "views/pages/run_page.hpp"
#include "views/panels/work_row.hpp"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QTest>
#include <QTreeWidget>

using namespace loadline;

namespace {

OperatorRow rowOf(const std::string& key, double forward, double backward, std::int64_t batch = 1)
{
    OperatorRow row;
    row.key = key;
    row.batch = batch;
    row.forward = Seconds(forward);
    row.backward = Seconds(backward);
    return row;
}

PlanPicturePtr pictureAt(const char* budget)
{
    RequestOptions options;
    options.model = "gpt2-small";
    options.batch = "8";
    options.budget = budget;
    const auto request = resolveRequest(options);
    EXPECT_TRUE(request.ok());
    auto outcome = makePlan(request->request);
    EXPECT_TRUE(outcome.ok());
    auto picture = std::make_shared<PlanPicture>();
    picture->outcome = std::make_shared<const PlanOutcome>(*std::move(outcome));
    if (const Plan* plan = picture->plan())
        picture->timeline = std::make_shared<const Timeline>(playTimeline(plan->table, plan->choice));
    return picture;
}

} // namespace

TEST(ProfilePage, BarsFillInAsOperatorsAreMeasuredAndTheRestIsScaled)
{
    ProfilePage page;
    page.setSubjects({{"a", QStringLiteral("a"), Seconds(1e-3), Seconds(2e-3)}, {"b", QStringLiteral("b"), Seconds(2e-3), Seconds(4e-3)}});
    ASSERT_EQ(page.bars()->rows().size(), 2U);
    EXPECT_TRUE(page.bars()->rows()[0].estimated);
    page.addRow(rowOf("a", 10e-3, 20e-3)); // ten times the estimate
    const auto& bars = page.bars()->rows();
    EXPECT_FALSE(bars[0].estimated);
    EXPECT_DOUBLE_EQ(bars[0].first, 10e-3);
    EXPECT_TRUE(bars[1].estimated);
    EXPECT_NEAR(bars[1].first, 20e-3, 1e-12) << "scaled by what is measured";
    OperatorRow full = rowOf("b", 0, 0);
    full.outOfMemory = true;
    page.addRow(full);
    EXPECT_TRUE(page.bars()->rows()[1].value.contains(QLatin1String("out of memory")));
    page.begin();
    EXPECT_TRUE(page.bars()->rows()[0].estimated);
}

TEST(LinksPage, DrawsPointsFitAndResiduals)
{
    LinksPage page;
    for (std::int64_t bytes = 1024; bytes <= 1 << 20; bytes *= 2)
        page.addRow({Collective::AllReduce, 4, 4, Bytes(bytes), Seconds(20e-6 + double(bytes) / 1e9)});
    ASSERT_EQ(page.curves()->series().size(), 2U); // dots and line
    EXPECT_EQ(page.curves()->series()[1].points.size(), 11U);
    ASSERT_EQ(page.residuals()->series().size(), 1U);
    for (const auto& [bytes, miss] : page.residuals()->series()[0].points)
        EXPECT_LT(std::abs(miss), 0.02);
    EXPECT_GE(page.table()->topLevelItemCount(), 1);
    EXPECT_EQ(page.curves()->table().rows.size(), 11U + 81U);
}

TEST(RunPage, ShowsRanksLossesAndHowItEnded)
{
    RunPage page;
    page.begin(2, 3, Bytes(1000));
    page.take(WorkerRank{1, RankState::Ready, 12, {}});
    for (int rank = 0; rank < 2; ++rank) {
        WorkerStep step;
        step.rank = rank;
        step.step = 1;
        step.loss = 5 + rank;
        step.peak = Bytes(900 + rank);
        page.take(step);
    }
    WorkerStep foreign;
    foreign.rank = 7;
    foreign.step = 99;
    page.take(foreign); // not of this run
    ASSERT_EQ(page.ranks()->rows().size(), 2U);
    EXPECT_DOUBLE_EQ(page.ranks()->rows()[1].first, 901);
    EXPECT_DOUBLE_EQ(page.ranks()->rows()[1].mark, 1000);
    ASSERT_EQ(page.losses()->series()[0].points.size(), 1U);
    EXPECT_DOUBLE_EQ(page.losses()->series()[0].points[0].second, 5.5);
    page.take(WorkerRank{1, RankState::Died, 12, "killed by signal 9"});
    page.take(WorkerResult{RunOutcome::RankDied, "rank 1 was killed by signal 9 in step 2", {5.5}, {}});
    EXPECT_TRUE(page.work()->sentence().contains(QLatin1String("rank 1 was killed by signal 9")));
    EXPECT_EQ(page.ranks()->rows()[1].mood, -1);
}

TEST(RunPage, LaysMeasuredBesidePredicted)
{
    RunPage page;
    page.begin(1, 1, Bytes(100));
    auto comparison = std::make_shared<RunComparison>();
    comparison->lines = {{VerdictLine::Kind::Loss, true, "losses equal"}, {VerdictLine::Kind::Time, std::nullopt, "no time"}};
    comparison->units = {{0, "a", Seconds(1), Seconds(2), Seconds(1), Seconds(2)}};
    comparison->terms = {{VerdictTerm::Kind::Time, "compute", 1, 2, 1, "slower kernels"}};
    comparison->predicted.events = {TimelineEvent{}, TimelineEvent{Phase::Step, 0, {}}};
    comparison->measured = comparison->predicted.events;
    page.setComparison(comparison);
    ASSERT_EQ(page.verdict().size(), 2);
    EXPECT_TRUE(page.verdict()[0].contains(QChar(0x2713)));
    EXPECT_DOUBLE_EQ(page.units()->rows()[0].mark, 2);
    EXPECT_EQ(page.units()->rows()[0].mood, -1);
    EXPECT_EQ(page.terms()->topLevelItemCount(), 1);
    EXPECT_EQ(page.memory()->table().rows.size(), 4U);
}

TEST(ComparePage, ShowsOnlyWhatDiffersUntilAsked)
{
    ComparePage page;
    QAbstractItemModelTester tester(page.model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
    const auto a = pictureAt("70GiB");
    const auto b = pictureAt("11GiB");
    page.setSides({a, QStringLiteral("a")}, {b, QStringLiteral("b")}, {QStringLiteral("budget: 70 -> 11")}, {});
    EXPECT_TRUE(page.warning().isEmpty());
    const auto differ = page.model()->differences();
    EXPECT_GT(differ, 0U);
    EXPECT_EQ(static_cast<std::size_t>(page.model()->rowCount()), differ);
    page.onlyDifferences()->setChecked(false);
    EXPECT_EQ(static_cast<std::size_t>(page.model()->rowCount()), page.model()->units());
    page.setSides({a, QStringLiteral("a")}, {a, QStringLiteral("a")}, {}, {QStringLiteral("model: x -> y")});
    EXPECT_EQ(page.model()->differences(), 0U);
    EXPECT_TRUE(page.warning().contains(QLatin1String("model: x -> y")));
}

TEST(WorkRow, SaysWhatHindersAndHowFar)
{
    WorkRow row(QStringLiteral("t"), QStringLiteral("Go"));
    row.setHindrance(QStringLiteral("no device"));
    EXPECT_EQ(row.sentence(), QStringLiteral("no device"));
    row.setHindrance({});
    row.setWorking(true);
    row.setProgress(0.25, QStringLiteral("1 of 4"), 3.0);
    EXPECT_DOUBLE_EQ(row.progress(), 0.25);
    int cancelled = 0;
    QObject::connect(&row, &WorkRow::cancelAsked, &row, [&] { ++cancelled; });
    row.findChild<QWidget*>(QStringLiteral("verb"))->setFocus();
    QMetaObject::invokeMethod(row.findChild<QWidget*>(QStringLiteral("verb")), "click");
    EXPECT_EQ(cancelled, 1);
}
