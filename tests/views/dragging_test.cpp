// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/library.hpp"
#include "core/model/reader.hpp"
#include "views/charts/budget_handle.hpp"
#include "views/charts/coach_mark.hpp"
#include "views/charts/memory_chart.hpp"
#include "views/charts/time_chart.hpp"
#include "views/format/text.hpp"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QTest>

#include <cmath>

using namespace loadline;

namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

/// A handle over a chart of 300 pixels that shows 30 GiB: ten pixels a GiB.
struct Handle {
    QWidget chart;
    BudgetHandle handle{Qt::Horizontal, &chart};

    Handle()
    {
        chart.resize(400, 300);
        ByteScale scale;
        scale.area = QRect(0, 0, 400, 300);
        scale.origin = 300;
        scale.pixelsPerByte = -10.0 / kGib;
        handle.setScale(scale);
        handle.setLimits(Bytes(2 * kGib), Bytes(28 * kGib));
        handle.setBudget(Bytes(20 * kGib));
        chart.show();
        QCoreApplication::processEvents();
    }

    /// Drags the line to a height of the chart and returns the budget there.
    Bytes dragTo(int y, Qt::KeyboardModifiers keys = {})
    {
        const QPoint grip = handle.grip();
        QTest::mousePress(&handle, Qt::LeftButton, keys, handle.mapFromParent(grip));
        const QPoint to(grip.x(), y);
        QMouseEvent move(QEvent::MouseMove, handle.mapFromParent(to), chart.mapToGlobal(to), Qt::NoButton, Qt::LeftButton, keys);
        QCoreApplication::sendEvent(&handle, &move);
        QTest::mouseRelease(&handle, Qt::LeftButton, keys, handle.mapFromParent(to));
        return handle.budget();
    }
};

PlanPicturePtr planned()
{
    PlanRequest request;
    request.setup.model = std::make_shared<const Model>(*loadModel("gpt2-small"));
    request.setup.cluster = bundledClusters().front();
    request.setup.precision = bundledPrecisions().front();
    request.setup.optimizer = bundledOptimizers().front();
    request.setup.rules = loadlineRules();
    request.setup.sequence = 256;
    request.budget = Bytes(std::int64_t{1} << 34);
    auto picture = std::make_shared<PlanPicture>();
    picture->outcome = std::make_shared<const PlanOutcome>(*makePlan(request));
    picture->timeline = std::make_shared<const Timeline>(playTimeline(picture->plan()->table, picture->plan()->choice));
    picture->device = request.setup.cluster.device.memory;
    return picture;
}

} // namespace

TEST(Dragging, TheLineRestsWhereThePlanChanges)
{
    Handle shown;
    const Bytes step(10 * kGib + 12345678);
    shown.handle.setDetents({Bytes(5 * kGib), step, Bytes(15 * kGib)});
    // 10 GiB lie at 200 pixels; 4 pixels beside it is within reach.
    const Bytes rested = shown.dragTo(196);
    EXPECT_GE(rested, step);
    EXPECT_LT(rested - step, Bytes(kGib / 50)) << "rounded up to a hundredth of a GiB";
    EXPECT_NEAR(shown.dragTo(215).gib(), 8.5, 0.11) << "out of reach it goes where the hand goes";
}

TEST(Dragging, ControlSwitchesTheRestsOff)
{
    Handle shown;
    shown.handle.setDetents({Bytes(10 * kGib)});
    EXPECT_EQ(shown.dragTo(196), Bytes(10 * kGib));
    shown.handle.setBudget(Bytes(20 * kGib));
    EXPECT_NE(shown.dragTo(196, Qt::ControlModifier), Bytes(10 * kGib));
}

TEST(Dragging, CrowdedStepsDoNotHoldTheLine)
{
    Handle shown;
    std::vector<Bytes> many;
    for (int i = 0; i < 100; ++i)
        many.push_back(Bytes(5 * kGib + i * kGib / 10));
    shown.handle.setDetents(many);
    EXPECT_NEAR(shown.dragTo(203).gib(), 9.7, 0.11);
    EXPECT_EQ(shown.handle.budget(), fractionOfGib(std::lround(shown.handle.budget().gib() * 10), 10)) << "tenths, not a step";
}

TEST(Dragging, AxesSettleAfterwardsUnlessMotionIsReduced)
{
    const Bytes before(24 * kGib);
    const Bytes after(12 * kGib);
    for (const bool reduced : {true, false}) {
        MemoryChart chart;
        chart.resize(700, 300);
        chart.setPicture(planned());
        chart.setTop(before);
        chart.handle()->setBudget(Bytes(8 * kGib));
        chart.show();
        QCoreApplication::processEvents();
        const int high = chart.handle()->grip().y();
        Chart::setReducedMotion(reduced);
        chart.setTop(after);
        if (!reduced) {
            EXPECT_EQ(chart.handle()->grip().y(), high) << "it moves from where it was";
            ASSERT_TRUE(QTest::qWaitFor([&] { return chart.handle()->grip().y() < high; }));
            emit chart.handle()->grabbed(); // a hand ends the movement
        }
        const QRect area = chart.dataArea();
        EXPECT_NEAR(chart.handle()->grip().y(), area.bottom() - area.height() * 8 / 12, 2) << reduced;
        Chart::setReducedMotion(true);
    }
}

TEST(Dragging, TheCoachGoesWithTheFirstDrag)
{
    MemoryChart chart;
    chart.resize(700, 300);
    chart.setPicture(planned());
    chart.setTop(Bytes(24 * kGib));
    chart.handle()->setLimits(Bytes(kGib), Bytes(24 * kGib));
    chart.handle()->setBudget(Bytes(16 * kGib));
    chart.setCoached(true);
    chart.show();
    QCoreApplication::processEvents();
    ASSERT_TRUE(chart.coached());
    EXPECT_TRUE(chart.rect().contains(chart.findChild<CoachMark*>()->geometry()));
    QTest::keyClick(chart.handle(), Qt::Key_Down);
    EXPECT_FALSE(chart.coached());
}

TEST(Dragging, AVeilCostsNoReplot)
{
    TimeChart chart;
    chart.resize(700, 200);
    chart.setPicture(planned());
    chart.show();
    QCoreApplication::processEvents();
    const int before = chart.replots();
    chart.setVeiled(true);
    QCoreApplication::processEvents();
    chart.setVeiled(false);
    QCoreApplication::processEvents();
    EXPECT_EQ(chart.replots(), before);
}

TEST(Dragging, AxesSettleAtOnceWithReducedMotion)
{
    TimeChart chart;
    chart.resize(700, 200);
    chart.setPicture(planned());
    chart.show();
    const double top = chart.axisTop();
    chart.holdAxis(true);
    EXPECT_EQ(chart.axisTop(), top);
    chart.holdAxis(false);
    EXPECT_EQ(chart.axisTop(), top);
}
