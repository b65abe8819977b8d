// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/worker.hpp"

#include "core/model/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace loadline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class Event>
Event readBack(const Event& event)
{
    const auto line = writeEvent(event);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto read = readEvent(line);
    EXPECT_TRUE(read && *read) << line;
    if (!read || !*read || !std::holds_alternative<Event>(**read))
        return {};
    EXPECT_EQ(writeEvent(**read), line);
    return std::get<Event>(**read);
}

std::string errorOf(std::string_view line)
{
    const auto read = readEvent(line);
    EXPECT_FALSE(read) << line;
    return read ? std::string() : read.error().message;
}

TEST(WorkerEvents, ReadBackAsTheyWereWritten)
{
    EXPECT_EQ(readBack(WorkerHello{1, "0.1.0"}).version, "0.1.0");
    EXPECT_EQ(readBack(WorkerProgress{3, 41, "linear:in=512,out=2048", Seconds(12.5)}).left, Seconds(12.5));
    EXPECT_FALSE(readBack(WorkerProgress{3, 41, "", std::nullopt}).left);
    const auto device = readBack(WorkerDevice{"cuda", 1, "H100", Bytes(80), Bytes(70), "550.54", 4, {{"torch", "2.11.0"}, {"nccl", ""}}});
    EXPECT_EQ(device.free, Bytes(70));
    EXPECT_THAT(device.versions,
                ElementsAre(std::pair<std::string, std::string>("torch", "2.11.0"), std::pair<std::string, std::string>("nccl", "")));
    const auto rank = readBack(WorkerRank{2, RankState::Died, 4711, "killed by signal 9"});
    EXPECT_EQ(rank.state, RankState::Died);
    EXPECT_EQ(rank.why, "killed by signal 9");
    const auto unit = readBack(WorkerUnit{1, 3, Seconds(0.1), Seconds(0.2), Seconds(0.3), Seconds(0.4)});
    EXPECT_EQ(unit.unit, 3u);
    EXPECT_EQ(unit.reduce, Seconds(0.4));
}

TEST(WorkerEvents, AStepKeepsEveryFigure)
{
    WorkerStep step;
    step.rank = 3;
    step.step = 7;
    step.loss = 5.54;
    step.seconds = Seconds(0.151);
    step.exposed = Seconds(0.011);
    step.peak = Bytes(223900000);
    step.reserved = Bytes(1);
    step.traffic = {Bytes(1024), Bytes(512), Bytes(2048)};
    const auto read = readBack(step);
    EXPECT_EQ(read.loss, 5.54);
    EXPECT_EQ(read.traffic, step.traffic);
    EXPECT_EQ(read.peak, step.peak);
    EXPECT_EQ(read.exposed, step.exposed);
}

TEST(WorkerEvents, ALossThatIsNoNumberStaysNone)
{
    WorkerStep step;
    step.step = 1;
    step.loss = std::numeric_limits<double>::infinity();
    EXPECT_THAT(writeEvent(step), HasSubstr("\"loss\":null"));
    EXPECT_TRUE(std::isnan(readBack(step).loss));
}

TEST(WorkerEvents, ATimelineKeepsPhasesUnitsAndBytes)
{
    WorkerTimeline timeline;
    timeline.rank = 1;
    for (const auto phase : {Phase::Forward, Phase::Recompute, Phase::Backward, Phase::Step}) {
        TimelineEvent event;
        event.phase = phase;
        event.unit = 5;
        event.bytes = {Bytes(1), Bytes(2), Bytes(3), Bytes(4), Bytes(5), Bytes(6)};
        timeline.events.push_back(event);
    }
    const auto read = readBack(timeline);
    ASSERT_EQ(read.events.size(), 4u);
    EXPECT_EQ(read.events[3].phase, Phase::Step);
    EXPECT_EQ(read.events[1].total(), Bytes(21));
    EXPECT_EQ(read.events[1].unit, 5u);
}

TEST(WorkerEvents, EveryOutcomeHasAWord)
{
    for (const auto outcome : {RunOutcome::Done, RunOutcome::OutOfMemory, RunOutcome::RankDied, RunOutcome::TimedOut, RunOutcome::Cancelled,
                               RunOutcome::Failed}) {
        const auto read = readBack(WorkerResult{outcome, "why", {1, 2}, {1, 3}});
        EXPECT_EQ(read.outcome, outcome);
        EXPECT_THAT(read.unshardedLosses, ElementsAre(1, 3));
    }
    EXPECT_FALSE(runOutcomeOf("lost"));
}

TEST(WorkerEvents, LinesOfAProfilePassAsTheyStand)
{
    const std::string line = R"({"row": "link", "collective": "all_gather", "group": 8, "bytes": 1})";
    const auto read = readEvent(line);
    ASSERT_TRUE(read && *read);
    EXPECT_EQ(std::get<WorkerProfileLine>(**read).line, line);
    EXPECT_EQ(writeEvent(WorkerProfileLine{line + "\n"}), line);
}

TEST(WorkerEvents, WhatANewerDeviceAddsIsSkipped)
{
    const auto unknown = readEvent(R"({"event": "weather", "rain": true})");
    ASSERT_TRUE(unknown);
    EXPECT_FALSE(*unknown);
    const auto extended = readEvent(R"({"event": "unit", "rank": 0, "unit": 1, "forward": 1, "mood": "good"})");
    ASSERT_TRUE(extended && *extended);
}

TEST(WorkerEvents, FaultsNameTheKey)
{
    EXPECT_THAT(errorOf(R"({"loadline-device": 2, "version": "9.0"})"), HasSubstr("speaks protocol 2"));
    EXPECT_THAT(errorOf("Segmentation fault"), HasSubstr("loadline-device"));
    EXPECT_THAT(errorOf("[1]"), HasSubstr("not a JSON object"));
    EXPECT_THAT(errorOf(R"({"version": "9.0"})"), HasSubstr("'event'"));
    EXPECT_THAT(errorOf(R"({"event": "step", "rank": -1, "step": 1})"), HasSubstr("'rank'"));
    EXPECT_THAT(errorOf(R"({"event": "rank", "rank": 0, "state": "asleep"})"), HasSubstr("'state'"));
    EXPECT_THAT(errorOf(R"({"event": "timeline", "rank": 0, "rows": [{"phase": "forward", "unit": 0, "bytes": [1]}]})"),
                HasSubstr("'bytes'"));
    EXPECT_THAT(errorOf(R"({"event": "timeline", "rank": 0, "rows": 3})"), HasSubstr("'rows'"));
    EXPECT_THAT(errorOf(R"({"event": "result", "outcome": "done", "losses": ["a"]})"), HasSubstr("'losses'"));
}

TEST(WorkerRequests, DefaultsAreThoseOfThePage)
{
    const auto links = readLinksRequest("{}");
    ASSERT_TRUE(links) << links.error().message;
    EXPECT_EQ(writeRequest(*links), writeRequest(LinksRequest()));
    const auto train = readTrainRequest(R"({"plan": {"format": "loadline.plan/1"}})");
    ASSERT_TRUE(train) << train.error().message;
    EXPECT_EQ(train->plan, R"({"format":"loadline.plan/1"})");
    EXPECT_EQ(train->steps, 20);
    EXPECT_TRUE(train->compareUnsharded);
}

TEST(WorkerRequests, ReadBackAsTheyWereWritten)
{
    TrainRequest train;
    train.plan = R"({"a":1.5})";
    train.seed = 7;
    train.data = "/tmp/text";
    train.clip = 1;
    train.save = "/tmp/folder";
    train.saveStep = 3;
    train.resume = "/tmp/other";
    train.compareUnsharded = false;
    auto again = readTrainRequest(writeRequest(train));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(writeRequest(*again), writeRequest(train));
    EXPECT_EQ(again->saveStep, 3);
    EXPECT_EQ(again->resume, "/tmp/other");

    auto model = loadModel("gpt-tiny");
    ASSERT_TRUE(model);
    ProfileRequest profile;
    profile.model = *model;
    profile.batches = {1, 3};
    profile.granularities = {1, 5};
    profile.precisions = {"fp32", "bf16"};
    const auto read = readProfileRequest(writeRequest(profile));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->model, *model);
    EXPECT_THAT(read->batches, ElementsAre(1, 3));
    EXPECT_EQ(writeRequest(*read), writeRequest(profile));
}

template <class Read>
std::string refusal(Read read, std::string_view text)
{
    const auto request = read(text);
    EXPECT_FALSE(request) << text;
    return request ? std::string() : request.error().message;
}

TEST(WorkerRequests, FaultsNameTheKey)
{
    EXPECT_THAT(refusal(readTrainRequest, "{}"), HasSubstr("'plan' is missing"));
    EXPECT_THAT(refusal(readTrainRequest, R"({"plan": 3})"), HasSubstr("'plan'"));
    EXPECT_THAT(refusal(readTrainRequest, R"({"plan": {}, "stepz": 3})"), HasSubstr("'stepz' is unknown"));
    EXPECT_THAT(refusal(readTrainRequest, R"({"plan": {}, "steps": 0})"), HasSubstr("'steps'"));
    EXPECT_THAT(refusal(readTrainRequest, R"({"plan": {}, "save_step": 3})"), HasSubstr("'save_step'"));
    EXPECT_THAT(refusal(readTrainRequest, R"({"plan": {}, "device": "tpu"})"), HasSubstr("'device' is 'tpu'"));
    EXPECT_THAT(refusal(readTrainRequest, R"({"plan": {}, "seed": 18446744073709551615})"), HasSubstr("'seed'"));
    EXPECT_THAT(refusal(readTrainRequest, "[]"), HasSubstr("not a JSON object"));
    EXPECT_THAT(refusal(readTrainRequest, "{"), HasSubstr("the request"));
    EXPECT_THAT(refusal(readLinksRequest, R"({"least": 8, "most": 4})"), HasSubstr("'most'"));
    EXPECT_THAT(refusal(readLinksRequest, R"({"groups": [1]})"), HasSubstr("'groups'"));
    EXPECT_THAT(refusal(readLinksRequest, R"({"groups": 2})"), HasSubstr("'groups'"));
    EXPECT_THAT(refusal(readProfileRequest, "{}"), HasSubstr("'model' is missing"));
    EXPECT_THAT(refusal(readProfileRequest, R"({"model": {"format": "loadline.model/9"}})"), HasSubstr("newer"));
}

TEST(WorkerRequests, APlanThatIsNoDocumentIsRefusedByTheReader)
{
    TrainRequest train;
    train.plan = "not JSON";
    EXPECT_THAT(refusal(readTrainRequest, writeRequest(train)), HasSubstr("'plan'"));
}

} // namespace
} // namespace loadline
