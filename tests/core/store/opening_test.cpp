// SPDX-License-Identifier: GPL-3.0-or-later
// Every state that a file can be found in: new, older, newer, of another program, damaged, locked, only readable.
#include "core/store/opening.hpp"
#include "core/store/schema.hpp"
#include "tests/core/store/store_fixtures.hpp"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <array>
#include <fstream>
#include <random>
#include <thread>

namespace loadline {
namespace {

namespace fs = std::filesystem;
using test::sampleRun;
using test::sampleSession;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using OpeningTest = test::StoreFolder;

void runSql(const fs::path& file, const std::string& sql)
{
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
    sqlite3_close(handle);
}

void write(const fs::path& path, const std::string& text)
{
    std::ofstream(path, std::ios::binary) << text;
}

std::string contents(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// 300 sessions with plans of their own, closed: one file.
void fill(Store store)
{
    for (int i = 0; i < 300; ++i) {
        auto session = sampleSession("session " + std::to_string(i));
        session.plan = std::string(2000, static_cast<char>('a' + i % 26)) + std::to_string(i);
        ASSERT_FALSE(store.saveSession(session));
        ASSERT_TRUE(store.addRun(sampleRun(session.row.id, i)));
    }
}

TEST_F(OpeningTest, MakesTheFolderOfANewFile)
{
    file = folder / "a" / "b" / "loadline.db";
    EXPECT_THAT(open().notices(), IsEmpty());
    EXPECT_TRUE(fs::exists(file));
}

TEST_F(OpeningTest, SaysWhatIsWrongWithThePlace)
{
    write(folder / "plain", "x");
    EXPECT_THAT(Store::open(folder).error().message, HasSubstr("is a folder"));
    EXPECT_THAT(Store::open(folder / "plain" / "x.db").error().message, HasSubstr("cannot be opened"));
    EXPECT_FALSE(Store::open(folder / "none.db", {.readOnly = true}));
    EXPECT_FALSE(fs::exists(folder / "none.db"));
}

TEST_F(OpeningTest, OtherFilesStayAsTheyAre)
{
    for (const auto& text : {std::string("{\"format\": \"loadline.plan/1\"}"), std::string(5000, 'x')}) {
        write(file, text);
        EXPECT_THAT(Store::open(file).error().message, HasSubstr("is not a store of Loadline"));
        EXPECT_EQ(contents(file), text);
    }
    fs::remove(file);
    runSql(file, "CREATE TABLE music (id INTEGER)");
    EXPECT_THAT(Store::open(file).error().message, HasSubstr("database of another program"));
    EXPECT_FALSE(Store::open(file, {.readOnly = true}));
}

TEST_F(OpeningTest, AnAddressInANameIsAName)
{
    file = folder / "a?mode=ro#b%20 c.db";
    EXPECT_FALSE(open().readOnly());
    EXPECT_TRUE(fs::exists(file));
}

/// A fixture of every version lies in tests/data/store, made by the first program that wrote it.
TEST_F(OpeningTest, EveryEarlierVersionIsRead)
{
    for (std::size_t version = 1; version <= schemaSteps().size(); ++version) {
        const auto fixture = fs::path(LOADLINE_SOURCE_DIR "/tests/data/store") / ("version-" + std::to_string(version) + ".db");
        ASSERT_TRUE(fs::exists(fixture)) << "a new version needs a file of it: " << fixture;
        fs::copy_file(fixture, file, fs::copy_options::overwrite_existing);
        auto store = open();
        EXPECT_FALSE(store.readOnly());
        EXPECT_THAT(*store.check(), IsEmpty());
        const auto id = store.findSession("sample");
        ASSERT_TRUE(id);
        const auto session = store.session(*id);
        ASSERT_TRUE(session);
        EXPECT_EQ(session->plan, sampleSession("").plan);
        EXPECT_THAT(session->row.tags, ElementsAre("big", "try"));
        const auto runs = store.runs(*id);
        ASSERT_EQ(runs->size(), 1U);
        EXPECT_EQ(store.metrics(runs->front().id)->size(), 1U);
        EXPECT_EQ(store.profiles()->size(), 1U);
        EXPECT_EQ(store.frontiers(*id)->size(), 1U);
    }
}

/// The mechanism, with a version that is not there yet.
TEST_F(OpeningTest, AMigrationCopiesTheFileFirstAndAFailedOneChangesNothing)
{
    fs::copy_file(LOADLINE_SOURCE_DIR "/tests/data/store/version-1.db", file);
    const std::array<std::string_view, 2> broken{schemaSteps().front(), "ALTER TABLE sessions ADD COLUMN colour TEXT; SELECT nonsense;"};
    const auto failed = openStoreFile(file, {}, broken);
    ASSERT_FALSE(failed);
    EXPECT_TRUE(open().findSession("sample")) << "still version 1, still whole";
    fs::remove(file.string() + ".before-2");

    const std::array<std::string_view, 2> steps{schemaSteps().front(),
                                                "ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';"};
    {
        auto opened = openStoreFile(file, {}, steps);
        ASSERT_TRUE(opened) << opened.error().message;
        EXPECT_THAT(opened->notices, ElementsAre(HasSubstr("was brought from version 1 to 2")));
        EXPECT_EQ(**opened->database.text("SELECT colour FROM sessions WHERE name = 'sample'"), "red");
    }
    {
        const auto again = openStoreFile(file, {}, steps);
        ASSERT_TRUE(again);
        EXPECT_THAT(again->notices, IsEmpty());
    }
    // To this program it is a newer file: read only.
    auto newer = open();
    EXPECT_TRUE(newer.readOnly());
    EXPECT_THAT(newer.notices(), ElementsAre(HasSubstr("newer Loadline")));
    EXPECT_TRUE(newer.findSession("sample"));
    auto session = sampleSession("x");
    EXPECT_THAT(newer.saveSession(session)->message, HasSubstr("open for reading only"));
    // The copy is the file as it was.
    file += ".before-2";
    auto copy = open();
    EXPECT_FALSE(copy.readOnly());
    EXPECT_TRUE(copy.findSession("sample"));
}

TEST_F(OpeningTest, ADamagedFileIsSetAsideAndWhatCanBeReadIsKept)
{
    fill(open());
    const auto whole = contents(file);
    // One page in the middle of everything, and the first page's header.
    for (const auto at : {whole.size() / 2 / 4096 * 4096, std::size_t{0}}) {
        auto broken = whole;
        for (std::size_t i = at; i < at + 4096; ++i)
            broken[i] = static_cast<char>(i * 7 % 256);
        write(file, broken);
        auto store = open();
        ASSERT_THAT(store.notices(), ElementsAre(HasSubstr("was damaged: it is set aside as")));
        EXPECT_THAT(*store.check(), IsEmpty());
        EXPECT_FALSE(store.readOnly());
        const auto kept = store.sessions()->size();
        if (at == 0)
            EXPECT_EQ(kept, 0U) << "without its first page nothing is found";
        else
            EXPECT_GE(kept, 200U);
        const auto rows = store.sessions();
        for (const auto& row : *rows)
            EXPECT_TRUE(store.session(row.id));
        auto session = sampleSession("new");
        EXPECT_FALSE(store.saveSession(session));
        EXPECT_EQ(contents(file.string() + (at == 0 ? ".damaged-2" : ".damaged-1")), broken) << "nothing of it is touched";
    }
}

TEST_F(OpeningTest, ARescueThatWasInterruptedIsFinished)
{
    fill(open());
    const auto whole = contents(file);
    // Died between the two renames: the old file is aside with its log at the old place, the new one is ready.
    fs::rename(file, file.string() + ".rescued");
    write(file.string() + ".damaged-1", "old");
    write(file.string() + "-wal", "a log that is not the new file's");
    EXPECT_EQ(open().sessions()->size(), 300U);
    EXPECT_EQ(contents(file.string() + ".damaged-1-wal"), "a log that is not the new file's");
    // Died before them: what was begun is begun anew.
    auto broken = whole;
    for (std::size_t i = broken.size() / 2; i < broken.size() / 2 + 8192; ++i)
        broken[i] = 'x';
    write(file, broken);
    write(file.string() + ".rescued", "");
    auto store = open();
    EXPECT_THAT(store.notices(), ElementsAre(HasSubstr(".damaged-2")));
    EXPECT_GE(store.sessions()->size(), 200U);
}

/// Any byte may be wrong: a store opens, or says why; it never crashes, and what it shows is whole.
TEST_F(OpeningTest, RandomDamageNeverCrashes)
{
    fill(open());
    const auto whole = contents(file);
    std::mt19937 random(1);
    for (int round = 0; round < 40; ++round) {
        auto broken = whole;
        for (int i = 0; i < 20; ++i)
            broken[random() % broken.size()] = static_cast<char>(random());
        if (round % 4 == 0)
            broken.resize(random() % broken.size());
        for (const auto& entry : fs::directory_iterator(folder))
            fs::remove(entry.path());
        write(file, broken);
        auto store = Store::open(file);
        if (!store)
            continue;
        const auto rows = store->sessions();
        ASSERT_TRUE(rows) << rows.error().message;
        auto session = sampleSession("new");
        EXPECT_FALSE(store->saveSession(session));
    }
}

TEST_F(OpeningTest, ALockedFileIsSaidNothingIsLostAndRetryingWorks)
{
    auto store = open({.busyMilliseconds = 20});
    auto session = sampleSession("a");
    ASSERT_FALSE(store.saveSession(session));
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    session.options = "changed";
    const auto problem = store.saveSession(session);
    ASSERT_TRUE(problem);
    EXPECT_THAT(problem->message, HasSubstr("in use by another program"));
    EXPECT_EQ(store.session(session.row.id)->options, sampleSession("").options) << "reading goes on";
    sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr);
    sqlite3_close(other);
    EXPECT_FALSE(store.saveSession(session));
    EXPECT_EQ(store.session(session.row.id)->options, "changed");
}

TEST_F(OpeningTest, ManyWritersWaitForOneAnother)
{
    constexpr int kWriters = 4;
    constexpr int kSaves = 25;
    std::vector<std::thread> writers;
    std::array<std::string, kWriters> problems;
    for (std::size_t writer = 0; writer < kWriters; ++writer) {
        writers.emplace_back([&, writer] {
            auto store = Store::open(file, {.busyMilliseconds = 60000}); // also the first opening is a race
            if (!store) {
                problems[writer] = store.error().message;
                return;
            }
            for (int i = 0; i < kSaves; ++i) {
                auto session = sampleSession(std::to_string(writer) + '.' + std::to_string(i));
                if (const auto problem = store->saveSession(session))
                    problems[writer] = problem->message;
            }
        });
    }
    for (auto& writer : writers)
        writer.join();
    EXPECT_THAT(problems, testing::Each(""));
    auto store = open();
    EXPECT_EQ(store.sessions()->size(), std::size_t{kWriters} * kSaves);
    EXPECT_THAT(*store.check(), IsEmpty());
}

TEST_F(OpeningTest, AFullDiskIsSaidNothingIsLostAndRetryingWorks)
{
    auto store = openStoreFile(file, {}, schemaSteps());
    ASSERT_TRUE(store);
    auto& database = store->database;
    ASSERT_FALSE(database.run("INSERT INTO profiles (kind, device, driver, versions, measured, document) VALUES ('times','','','',0,'a')"));
    const auto pages = **database.integer("PRAGMA page_count");
    ASSERT_FALSE(database.run("PRAGMA max_page_count = " + std::to_string(pages)));
    const std::string large(100000, 'x');
    const std::string_view sql = "INSERT INTO profiles (kind, device, driver, versions, measured, document) VALUES ('times','','','',0,?)";
    const auto problem = database.run(sql, {large});
    ASSERT_TRUE(problem);
    EXPECT_THAT(problem->message, HasSubstr("disk is full"));
    EXPECT_EQ(**database.integer("SELECT count(*) FROM profiles"), 1);
    ASSERT_FALSE(database.run("PRAGMA max_page_count = 1000000"));
    EXPECT_FALSE(database.run(sql, {large}));
}

TEST_F(OpeningTest, ReadingAloneLeavesTheFolderAlone)
{
    fill(open());
    const auto whole = contents(file);
    {
        auto store = open({.readOnly = true});
        EXPECT_THAT(store.notices(), IsEmpty());
        EXPECT_EQ(store.sessions()->size(), 300U);
        EXPECT_EQ(store.removeSession(1, 1)->code, ErrorCode::Unsupported);
        EXPECT_EQ(store.addProfile({}).error().code, ErrorCode::Unsupported);
    }
    EXPECT_EQ(contents(file), whole);
}

} // namespace
} // namespace loadline
