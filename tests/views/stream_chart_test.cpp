// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/library.hpp"
#include "core/model/reader.hpp"
#include "views/charts/stream_chart.hpp"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QSignalSpy>
#include <QTest>

using namespace loadline;

namespace {

PlanPicturePtr planned()
{
    PlanRequest request;
    request.setup.model = std::make_shared<const Model>(*loadModel("gpt2-small"));
    request.setup.cluster = bundledClusters().front();
    request.setup.precision = bundledPrecisions().front();
    request.setup.optimizer = bundledOptimizers().front();
    request.setup.rules = loadlineRules();
    request.setup.sequence = 512;
    request.budget = Bytes(std::int64_t{1} << 35);
    request.pins = {Pin{"*", "zdp"}};
    auto picture = std::make_shared<PlanPicture>();
    picture->outcome = std::make_shared<const PlanOutcome>(*makePlan(request));
    picture->device = request.setup.cluster.device.memory;
    return picture;
}

struct Shown {
    StreamChart chart;
    PlanPicturePtr picture = planned();

    Shown()
    {
        chart.resize(900, 240);
        chart.setPicture(picture);
        chart.show();
        QCoreApplication::processEvents();
    }
};

} // namespace

TEST(StreamChart, ShowsTheStepToItsEnd)
{
    Shown shown;
    ASSERT_NE(shown.picture->plan(), nullptr);
    EXPECT_DOUBLE_EQ(shown.chart.lanes()->end(), shown.picture->plan()->time.overlapped.value());
    EXPECT_DOUBLE_EQ(shown.chart.shownTo(), shown.chart.lanes()->end());
    EXPECT_EQ(shown.chart.shownFrom(), 0);
}

TEST(StreamChart, ComputeBarsSumToTheComputeTime)
{
    Shown shown;
    const Plan& plan = *shown.picture->plan();
    double compute = 0;
    for (const StreamSpan& span : streamSpans(plan.table, plan.choice)) {
        const StreamSpan* drawn = shown.chart.lanes()->at(laneOf(span.kind), (span.start.value() + span.end.value()) / 2);
        ASSERT_NE(drawn, nullptr);
        EXPECT_EQ(drawn->unit, span.unit);
        if (laneOf(span.kind) == Lane::Compute)
            compute += (span.end - span.start).value();
    }
    EXPECT_NEAR(compute, plan.time.compute.value(), 1e-9);
}

TEST(StreamChart, ZoomsToOneOperatorAndBack)
{
    Shown shown;
    const StreamSpan* span = shown.chart.lanes()->firstOf(5);
    ASSERT_NE(span, nullptr);
    shown.chart.zoomTo(5);
    EXPECT_LE(shown.chart.shownFrom(), span->start.value());
    EXPECT_GE(shown.chart.shownTo(), span->end.value());
    EXPECT_NEAR(shown.chart.shownTo() - shown.chart.shownFrom(), 5 * (span->end - span->start).value(), 1e-9);
    shown.chart.fit();
    EXPECT_DOUBLE_EQ(shown.chart.shownTo(), shown.chart.lanes()->end());
}

TEST(StreamChart, NeverLeavesTheStep)
{
    Shown shown;
    shown.chart.zoom(4);
    shown.chart.pan(-10);
    EXPECT_EQ(shown.chart.shownFrom(), 0);
    shown.chart.pan(100);
    EXPECT_NEAR(shown.chart.shownTo(), shown.chart.lanes()->end(), 1e-12);
    shown.chart.zoom(1e-9);
    EXPECT_NEAR(shown.chart.shownTo() - shown.chart.shownFrom(), shown.chart.lanes()->end(), 1e-12);
    shown.chart.zoom(1e300);
    EXPECT_GT(shown.chart.shownTo(), shown.chart.shownFrom());
}

TEST(StreamChart, AZoomedViewStaysWhenThePlanChanges)
{
    Shown shown;
    shown.chart.zoomTo(5);
    const double from = shown.chart.shownFrom();
    shown.chart.setPicture(planned());
    EXPECT_DOUBLE_EQ(shown.chart.shownFrom(), from);
}

TEST(StreamChart, HoveringSaysWhatRuns)
{
    Shown shown;
    const StreamSpan* span = shown.chart.lanes()->firstOf(5);
    ASSERT_NE(span, nullptr);
    shown.chart.zoomTo(5);
    QCoreApplication::processEvents();
    QSignalSpy words(&shown.chart, &Chart::hovered);
    QSignalSpy units(&shown.chart, &StreamChart::unitHovered);
    QTest::mouseMove(shown.chart.findChild<QWidget*>(), shown.chart.dataArea().center());
    ASSERT_FALSE(units.isEmpty());
    EXPECT_EQ(units.last().first().toInt(), 5);
    EXPECT_TRUE(words.last().first().toString().contains(QStringLiteral("forward")));
}
