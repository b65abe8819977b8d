// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/history.hpp"
#include "app/session/work_slot.hpp"
#include "app/window/command_line.hpp"

#include <gtest/gtest.h>

#include <QTest>

#include <atomic>

using namespace loadline;

namespace {

constexpr int kPatience = 120'000; ///< milliseconds until a test gives up waiting

} // namespace

TEST(WorkSlot, TheNewestWaitingJobWinsAndTheRunningOneIsNotCancelled)
{
    WorkSlot slot;
    std::atomic<bool> go = false;
    std::vector<int> delivered;
    bool stopped = false;
    slot.submit([&](const std::stop_token& stop, const WorkSlot::Post&) -> WorkSlot::Delivery {
        while (!go)
            std::this_thread::yield();
        const bool asked = stop.stop_requested();
        return [&, asked] {
            stopped = asked;
            delivered.push_back(0);
        };
    });
    ASSERT_TRUE(QTest::qWaitFor([&] { return slot.started() == 1; }, kPatience));
    for (int i = 1; i <= 5; ++i)
        slot.submit(
            [&, i](const std::stop_token&, const WorkSlot::Post&) -> WorkSlot::Delivery { return [&, i] { delivered.push_back(i); }; });
    go = true;
    ASSERT_TRUE(QTest::qWaitFor([&] { return delivered.size() == 2; }, kPatience));
    EXPECT_EQ(delivered, (std::vector<int>{0, 5}));
    EXPECT_FALSE(stopped);
    EXPECT_EQ(slot.replaced(), 4);
    EXPECT_EQ(slot.started(), 2);
}

TEST(WorkSlot, ClearStopsTheJobAndDeliversNothing)
{
    WorkSlot slot;
    std::atomic<bool> stopped = false;
    bool delivered = false;
    slot.submit([&](const std::stop_token& stop, const WorkSlot::Post&) -> WorkSlot::Delivery {
        while (!stop.stop_requested())
            std::this_thread::yield();
        stopped = true;
        return [&] { delivered = true; };
    });
    ASSERT_TRUE(QTest::qWaitFor([&] { return slot.started() == 1; }, kPatience));
    slot.clear();
    ASSERT_TRUE(QTest::qWaitFor([&] { return stopped.load(); }, kPatience));
    QTest::qWait(20);
    EXPECT_FALSE(delivered);
    EXPECT_FALSE(slot.busy());
}

TEST(WorkSlot, BusyEndsOnceForEachStretchOfWork)
{
    WorkSlot slot;
    std::vector<bool> said;
    QObject::connect(&slot, &WorkSlot::busyChanged, &slot, [&](bool busy) { said.push_back(busy); });
    for (int round = 0; round < 3; ++round) {
        slot.submit([](const std::stop_token&, const WorkSlot::Post&) -> WorkSlot::Delivery { return {}; });
        ASSERT_TRUE(QTest::qWaitFor([&] { return !said.empty() && !said.back(); }, kPatience));
    }
    EXPECT_EQ(said, (std::vector<bool>{true, false, true, false, true, false}));
}

TEST(WorkSlot, DestroyingItWhileBusyWaitsForTheJob)
{
    std::atomic<bool> ended = false;
    {
        WorkSlot slot;
        slot.submit([&](const std::stop_token& stop, const WorkSlot::Post&) -> WorkSlot::Delivery {
            while (!stop.stop_requested())
                std::this_thread::yield();
            ended = true;
            return {};
        });
        ASSERT_TRUE(QTest::qWaitFor([&] { return slot.started() == 1; }, kPatience));
    }
    EXPECT_TRUE(ended);
}

TEST(History, UndoRedoMergeAndDrop)
{
    History<int> history;
    history.push({QStringLiteral("a"), 0, 1, {}});
    history.push({QStringLiteral("b"), 1, 2, QStringLiteral("k")});
    history.push({QStringLiteral("c"), 2, 3, QStringLiteral("k")});
    EXPECT_EQ(history.done(), 2U);
    EXPECT_EQ(history.undo(), 1);
    EXPECT_EQ(history.redoName(), QStringLiteral("c"));
    EXPECT_EQ(history.redo(), 3);
    EXPECT_FALSE(history.canRedo());
    EXPECT_EQ(history.dropLast(), 1);
    EXPECT_FALSE(history.canRedo());
    EXPECT_EQ(history.undo(), 0);
    EXPECT_FALSE(history.canUndo());
}

TEST(CommandLine, ReadsFlagsAndRefusesNonsense)
{
    const auto line = parseCommandLine({QStringLiteral("--screenshot"), QStringLiteral("out"), QStringLiteral("--size=800x600"),
                                        QStringLiteral("--theme"), QStringLiteral("dark"), QStringLiteral("a.json")});
    ASSERT_TRUE(line.ok());
    EXPECT_EQ(line->size, QSize(800, 600));
    EXPECT_EQ(line->files, QStringList{QStringLiteral("a.json")});
    for (const char* bad : {"--theme=blue", "--size=9x9", "--size=axb", "--scale=0", "--scale=nan", "--what", "--store=", "--script",
                            "--compare", "--compare a --theme dark"})
        EXPECT_FALSE(parseCommandLine({QLatin1String(bad)}).ok()) << bad;
}
