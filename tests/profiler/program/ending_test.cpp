// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/program/ending.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

using namespace loadline;
using testing::HasSubstr;

namespace {

RankEnd good(int rank)
{
    RankEnd end;
    end.rank = rank;
    return end;
}

RankEnd said(int rank, RunOutcome outcome, const std::string& why, int code = kFailed)
{
    RankEnd end = good(rank);
    end.code = code;
    end.step = 3;
    end.result = WorkerResult{outcome, why, {}, {}};
    return end;
}

RankEnd killed(int rank, int signal, bool byUs)
{
    RankEnd end = good(rank);
    end.signal = signal;
    end.byUs = byUs;
    end.step = 7;
    return end;
}

} // namespace

TEST(Ending, AllGoodIsDone)
{
    const auto result = resultOf({good(0), good(1)}, StopCause::Nothing, 60);
    EXPECT_EQ(result.outcome, RunOutcome::Done);
    EXPECT_EQ(exitCodeOf({good(0), good(1)}, result), kDone);
}

TEST(Ending, AKilledRankIsTheCauseAndItsPeersAreNot)
{
    const std::vector<RankEnd> ends{said(0, RunOutcome::RankDied, "Connection closed by peer"), killed(1, SIGKILL, false),
                                    said(2, RunOutcome::RankDied, "Connection closed by peer")};
    const auto result = resultOf(ends, StopCause::Nothing, 60);
    EXPECT_EQ(result.outcome, RunOutcome::RankDied);
    EXPECT_THAT(result.why, HasSubstr("rank 1 was killed by signal 9"));
    EXPECT_THAT(result.why, HasSubstr("in step 7"));
    EXPECT_EQ(exitCodeOf(ends, result), kFailed);
}

TEST(Ending, OutOfMemoryComesBeforeLostPeers)
{
    const auto result = resultOf({said(0, RunOutcome::RankDied, "Connection closed by peer"), said(1, RunOutcome::OutOfMemory, "no room")},
                                 StopCause::Nothing, 60);
    EXPECT_EQ(result.outcome, RunOutcome::OutOfMemory);
    EXPECT_THAT(result.why, HasSubstr("rank 1 ran out of memory in step 3"));
}

TEST(Ending, AHangingRankIsNamed)
{
    const auto result = resultOf({said(0, RunOutcome::TimedOut, "Timed out"), killed(1, SIGKILL, true)}, StopCause::Nothing, 60);
    EXPECT_EQ(result.outcome, RunOutcome::TimedOut);
    EXPECT_THAT(result.why, HasSubstr("rank 1 did not answer within 60 s"));
    EXPECT_EQ(resultOf({killed(0, SIGTERM, true), killed(1, SIGTERM, true)}, StopCause::Silence, 90).outcome, RunOutcome::TimedOut);
}

TEST(Ending, RequestsAndDevicesHaveTheirExitCodes)
{
    const std::vector<RankEnd> wrong{said(0, RunOutcome::Failed, "no such file", kWrongRequest), good(1)};
    EXPECT_EQ(exitCodeOf(wrong, resultOf(wrong, StopCause::Nothing, 60)), kWrongRequest);
    EXPECT_EQ(resultOf(wrong, StopCause::Nothing, 60).why, "no such file");
    const std::vector<RankEnd> none{said(0, RunOutcome::Failed, "no GPU", kNoDevice)};
    EXPECT_EQ(exitCodeOf(none, resultOf(none, StopCause::Nothing, 60)), kNoDevice);
}

TEST(Ending, CancelledIsCancelledHoweverTheRanksEnded)
{
    EXPECT_EQ(resultOf({killed(0, SIGKILL, true), good(1)}, StopCause::Cancelled, 60).outcome, RunOutcome::Cancelled);
    // ... unless they were all done anyway.
    EXPECT_EQ(resultOf({good(0), good(1)}, StopCause::Cancelled, 60).outcome, RunOutcome::Done);
}

TEST(Ending, AStatusWithoutAWordIsARankThatDied)
{
    RankEnd end = good(2);
    end.code = 134;
    const auto result = resultOf({good(0), end}, StopCause::Nothing, 60);
    EXPECT_EQ(result.outcome, RunOutcome::RankDied);
    EXPECT_EQ(result.why, "rank 2 ended with status 134 before the first step");
}
