// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/store/store_fixtures.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace loadline {
namespace {

using test::sampleRun;
using test::sampleSession;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using StoreTest = test::StoreFolder;

SessionId saved(Store& store, SessionRecord session)
{
    const auto problem = store.saveSession(session);
    EXPECT_FALSE(problem) << problem->message;
    return session.row.id;
}

std::vector<std::string> namesOf(const Result<std::vector<SessionRow>>& rows)
{
    std::vector<std::string> names;
    for (const auto& row : *rows)
        names.push_back(row.name);
    return names;
}

TEST_F(StoreTest, ASessionComesBackWholeAfterARestart)
{
    auto session = sampleSession("first");
    const auto profile = open().addProfile({0, ProfileRecord::Kind::Times, "CPU", "", "{}", 5, "lines"});
    ASSERT_TRUE(profile);
    session.profile = *profile;
    {
        auto store = open();
        ASSERT_FALSE(store.saveSession(session));
    }
    EXPECT_GT(session.row.id, 0);
    EXPECT_EQ(session.row.revision, 1);
    auto store = open();
    const auto read = store.session(session.row.id);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, session);
    const auto rows = store.sessions();
    ASSERT_TRUE(rows);
    EXPECT_THAT(*rows, ElementsAre(session.row));
}

TEST_F(StoreTest, WhatIsNotSetStaysEmpty)
{
    auto store = open();
    SessionRecord session;
    session.row.name = std::string("odd \0 name '\"%_", 15);
    ASSERT_FALSE(store.saveSession(session));
    const auto read = store.session(session.row.id);
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, session);
    EXPECT_FALSE(read->row.budget);
    EXPECT_FALSE(read->row.step);
}

TEST_F(StoreTest, ListsFilterByWordsAndTagNewestFirst)
{
    auto store = open();
    auto first = sampleSession("Alpha run", 10);
    first.row.tags = {"keep"};
    auto second = sampleSession("beta", 30);
    second.row.notes = "100%_sure!";
    auto third = sampleSession("gamma", 20);
    third.row.model = "gpt2";
    for (const auto& session : {first, second, third})
        saved(store, session);
    EXPECT_THAT(namesOf(store.sessions()), ElementsAre("beta", "gamma", "Alpha run"));
    EXPECT_THAT(namesOf(store.sessions({.words = "ALPHA"})), ElementsAre("Alpha run"));
    EXPECT_THAT(namesOf(store.sessions({.words = "llama slow"})), ElementsAre("Alpha run"));
    EXPECT_THAT(namesOf(store.sessions({.words = "keep"})), ElementsAre("Alpha run"));
    EXPECT_THAT(namesOf(store.sessions({.words = "0%_s"})), ElementsAre("beta")) << "no wildcard";
    EXPECT_THAT(namesOf(store.sessions({.words = "%"})), ElementsAre("beta"));
    EXPECT_THAT(namesOf(store.sessions({.words = "sure!"})), ElementsAre("beta"));
    EXPECT_THAT(namesOf(store.sessions({.tag = "big"})), ElementsAre("beta", "gamma"));
    EXPECT_THAT(namesOf(store.sessions({.most = 1})), ElementsAre("beta"));
    EXPECT_THAT(namesOf(store.sessions({.words = "nowhere"})), IsEmpty());
}

TEST_F(StoreTest, RenamingTaggingAndNotingChangeTheRevision)
{
    auto store = open();
    const auto id = saved(store, sampleSession("old"));
    ASSERT_FALSE(store.renameSession(id, "new", 2000));
    ASSERT_FALSE(store.setTags(id, {"z", "a", "z"}, 3000));
    ASSERT_FALSE(store.setNotes(id, "", 4000));
    const auto read = store.session(id);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->row.name, "new");
    EXPECT_THAT(read->row.tags, ElementsAre("a", "z"));
    EXPECT_EQ(read->row.notes, "");
    EXPECT_EQ(read->row.modified, 4000);
    EXPECT_EQ(read->row.created, 1000);
    EXPECT_EQ(read->row.revision, 4);
    EXPECT_EQ(store.renameSession(99, "x", 1)->code, ErrorCode::NotFound);
    EXPECT_EQ(store.setTags(99, {"x"}, 1)->code, ErrorCode::NotFound);
}

TEST_F(StoreTest, SavingOverAnotherWindowsChangeIsRefusedAndLosesNothing)
{
    auto first = open();
    auto second = open();
    auto mine = sampleSession("shared");
    ASSERT_FALSE(first.saveSession(mine));
    auto theirs = second.session(mine.row.id);
    ASSERT_TRUE(theirs);
    theirs->options = "theirs";
    ASSERT_FALSE(second.saveSession(*theirs));
    mine.options = "mine";
    const auto before = mine;
    const auto problem = first.saveSession(mine);
    ASSERT_TRUE(problem);
    EXPECT_THAT(problem->message, HasSubstr("was changed by another window"));
    EXPECT_EQ(mine, before) << "can be saved under another name";
    EXPECT_EQ(first.session(mine.row.id)->options, "theirs");
    mine.row.id = 0;
    EXPECT_FALSE(first.saveSession(mine));
}

TEST_F(StoreTest, TwoWindowsSeeEachOthersChanges)
{
    auto first = open();
    auto second = open();
    EXPECT_FALSE(*first.changedElsewhere());
    saved(first, sampleSession("a"));
    EXPECT_FALSE(*first.changedElsewhere()) << "its own change is none";
    EXPECT_TRUE(*second.changedElsewhere());
    EXPECT_FALSE(*second.changedElsewhere());
    EXPECT_THAT(namesOf(second.sessions()), ElementsAre("a"));
}

TEST_F(StoreTest, DeletingIsUndoneAlsoAfterARestartUntilPurged)
{
    SessionId id = 0;
    {
        auto store = open();
        id = saved(store, sampleSession("gone", 10));
        saved(store, sampleSession("stays", 5));
        ASSERT_FALSE(store.removeSession(id, 50));
        EXPECT_TRUE(store.removeSession(id, 60)) << "it is gone already";
    }
    auto store = open();
    EXPECT_THAT(namesOf(store.sessions()), ElementsAre("stays"));
    EXPECT_THAT(namesOf(store.sessions({.removed = true})), ElementsAre("gone"));
    EXPECT_FALSE(store.findSession("gone"));
    ASSERT_FALSE(store.restoreSession(id));
    EXPECT_THAT(namesOf(store.sessions()), ElementsAre("gone", "stays"));
    ASSERT_FALSE(store.removeSession(id, 70));
    EXPECT_EQ(*store.purge(70), 0);
    EXPECT_EQ(*store.purge(71), 1);
    EXPECT_EQ(store.restoreSession(id)->code, ErrorCode::NotFound);
    EXPECT_THAT(*store.check(), IsEmpty());
}

TEST_F(StoreTest, ADuplicateHasAllButTheRuns)
{
    auto store = open();
    const auto id = saved(store, sampleSession("a"));
    ASSERT_FALSE(store.saveFrontier(id, {"g4", "[1]"}));
    ASSERT_FALSE(store.saveFrontier(id, {"g4", "[2]"}));
    ASSERT_TRUE(store.addRun(sampleRun(id, 1)));
    const auto copy = store.duplicateSession(id, "b", 2000);
    ASSERT_TRUE(copy);
    auto expected = store.session(id);
    const auto read = store.session(*copy);
    ASSERT_TRUE(read);
    expected->row.id = *copy;
    expected->row.name = "b";
    expected->row.created = expected->row.modified = 2000;
    expected->row.measuredError.reset();
    EXPECT_EQ(*read, *expected);
    EXPECT_THAT(*store.frontiers(*copy), ElementsAre(FrontierRecord{"g4", "[2]"}));
    EXPECT_THAT(*store.runs(*copy), IsEmpty());
    EXPECT_EQ(store.duplicateSession(99, "c", 1).error().code, ErrorCode::NotFound);
}

TEST_F(StoreTest, SessionsAreFoundByNameOrNumber)
{
    auto store = open();
    const auto a = saved(store, sampleSession("a"));
    const auto twin = saved(store, sampleSession("twin"));
    saved(store, sampleSession("twin"));
    EXPECT_EQ(*store.findSession("a"), a);
    EXPECT_EQ(*store.findSession(std::to_string(twin)), twin);
    EXPECT_THAT(store.findSession("twin").error().message, HasSubstr("2 sessions are named 'twin'"));
    EXPECT_THAT(store.findSession("nobody").error().message, HasSubstr("no session 'nobody'"));
    EXPECT_FALSE(store.findSession("999999999999999999999"));
    EXPECT_FALSE(store.findSession(""));
}

TEST_F(StoreTest, RunsKeepTheirPlanAndLeadTheMeasuredError)
{
    auto store = open();
    const auto id = saved(store, sampleSession("a"));
    auto first = sampleRun(id, 10);
    first.id = *store.addRun(first);
    auto second = sampleRun(id, 20);
    second.kind = RunRecord::Kind::Imported;
    second.outcome.clear();
    second.measuredStep.reset();
    second.id = *store.addRun(second);
    EXPECT_EQ(*store.run(first.id), first);
    EXPECT_NEAR(*store.session(id)->row.measuredError, 0.25, 1e-12) << "the second is not measured yet";
    second.measuredStep = Seconds(0.3);
    second.outcome = "done";
    ASSERT_FALSE(store.updateRun(second));
    EXPECT_EQ(*store.run(second.id), second);
    EXPECT_NEAR(*store.session(id)->row.measuredError, -0.25, 1e-12);
    auto listed = second;
    listed.plan.clear();
    listed.result.clear();
    EXPECT_EQ(store.runs(id)->front(), listed) << "newest first, without documents";
    ASSERT_FALSE(store.removeRun(second.id));
    EXPECT_NEAR(*store.session(id)->row.measuredError, 0.25, 1e-12);
    EXPECT_EQ(store.run(second.id).error().code, ErrorCode::NotFound);
    EXPECT_EQ(store.addRun(sampleRun(99, 1)).error().code, ErrorCode::NotFound);
}

TEST_F(StoreTest, MetricsComeBackInOrderAndGoWithTheirRun)
{
    auto store = open();
    const auto id = saved(store, sampleSession("a"));
    const auto run = *store.addRun(sampleRun(id, 10));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<StepMetric> given{
        {2, 0, 1.5, Seconds(1), Seconds(2), Seconds(3), Seconds(4), Seconds(5), Bytes(6), Bytes(7), Bytes(8), Bytes(9), Bytes(10)},
        {1, 1, nan, Seconds(1), {}, {}, {}, {}, {}, {}, {}, {}, {}},
        {1, 0, 0, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}};
    ASSERT_FALSE(store.addMetrics(run, given));
    ASSERT_FALSE(store.addMetrics(run, std::vector<StepMetric>{{1, 0, 7, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}})) << "replaced";
    const auto all = store.metrics(run);
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 3U);
    EXPECT_EQ((*all)[0].loss, 7);
    EXPECT_TRUE(std::isnan((*all)[1].loss));
    EXPECT_EQ((*all)[2].exposed, Seconds(5));
    EXPECT_EQ((*all)[2].allReduce, Bytes(10));
    EXPECT_EQ(store.metrics(run, 1)->size(), 1U);
    EXPECT_EQ(store.addMetrics(99, given)->code, ErrorCode::NotFound);
    ASSERT_FALSE(store.removeSession(id, 1));
    ASSERT_EQ(*store.purge(2), 1);
    EXPECT_THAT(*store.metrics(run), IsEmpty());
    EXPECT_THAT(*store.check(), IsEmpty());
}

TEST_F(StoreTest, ProfilesAndLinksKeepTheirProvenance)
{
    auto store = open();
    ProfileRecord times{0, ProfileRecord::Kind::Times, "H200", "570.1", R"({"torch": "2.11.0"})", 10, "line 1\nline 2\n"};
    ProfileRecord links = times;
    links.kind = ProfileRecord::Kind::Links;
    links.measured = 20;
    times.id = *store.addProfile(times);
    links.id = *store.addProfile(links);
    EXPECT_EQ(*store.profile(times.id), times);
    const auto listed = store.profiles();
    ASSERT_EQ(listed->size(), 2U);
    EXPECT_EQ((*listed)[0].id, links.id);
    EXPECT_EQ((*listed)[0].kind, ProfileRecord::Kind::Links);
    EXPECT_EQ((*listed)[0].document, "");
    EXPECT_EQ(store.profile(77).error().code, ErrorCode::NotFound);
}

TEST_F(StoreTest, EqualDocumentsAreStoredOnceAndGoWithTheLastThatNamesThem)
{
    auto store = open();
    auto session = sampleSession("a");
    session.plan = std::string(1 << 20, 'p');
    ASSERT_FALSE(store.saveSession(session));
    for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(store.duplicateSession(session.row.id, "copy", 1));
    for (int i = 0; i < 20; ++i) { // an autosave of each new plan does not pile up
        session.plan = std::string(1 << 20, static_cast<char>('a' + i));
        ASSERT_FALSE(store.saveSession(session));
    }
    ASSERT_FALSE(store.backup(folder / "copy.db"));
    EXPECT_LT(std::filesystem::file_size(folder / "copy.db"), 4U << 20);
    EXPECT_TRUE(store.backup(folder / "copy.db")) << "never over a file";
}

TEST_F(StoreTest, ABackupIsAStoreOfItsOwn)
{
    {
        auto store = open();
        saved(store, sampleSession("kept"));
        ASSERT_FALSE(store.backup(folder / "copy.db"));
        saved(store, sampleSession("later"));
    }
    file = folder / "copy.db";
    auto copy = open();
    EXPECT_THAT(namesOf(copy.sessions()), ElementsAre("kept"));
    EXPECT_THAT(*copy.check(), IsEmpty());
}

} // namespace
} // namespace loadline
