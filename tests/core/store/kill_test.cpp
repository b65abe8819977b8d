// SPDX-License-Identifier: GPL-3.0-or-later
// kill -9 at random moments under constant change. What the machine itself may lose when it dies is in fault_test.cpp.
#include "tests/core/store/store_fixtures.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <random>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace loadline {
namespace {

using KillTest = test::StoreFolder;

/// Starts the writer, kills it after `microseconds`, and returns the last number that it said it had committed.
long lastCommitted(const std::string& file, long first, long microseconds)
{
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const std::string start = std::to_string(first);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        ::execl(LOADLINE_STORE_WRITER, LOADLINE_STORE_WRITER, file.c_str(), start.c_str(), nullptr);
        ::_exit(127);
    }
    ::close(ends[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
    std::string said;
    char buffer[4096];
    for (ssize_t size = 0; (size = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        said.append(buffer, static_cast<std::size_t>(size));
    ::close(ends[0]);
    std::istringstream lines(said.substr(0, said.rfind('\n') == std::string::npos ? 0 : said.rfind('\n')));
    long last = first - 1;
    for (long number = 0; lines >> number;)
        last = number;
    return last;
}

TEST_F(KillTest, AtTwoHundredRandomMomentsNothingCommittedIsLost)
{
    std::mt19937 random(20);
    long committed = 0;
    int withCommits = 0;
    for (int round = 0; round < 200; ++round) {
        const long before = committed;
        const long said = lastCommitted(file.string(), committed + 1, 2000 + static_cast<long>(random() % 40000));
        auto store = Store::open(file);
        ASSERT_TRUE(store) << store.error().message;
        ASSERT_THAT(store->notices(), testing::IsEmpty());
        ASSERT_THAT(*store->check(), testing::IsEmpty());
        const auto id = store->findSession("counted");
        if (!id) { // killed before the very first commit
            ASSERT_EQ(said, 0);
            continue;
        }
        const auto session = store->session(*id);
        ASSERT_TRUE(session);
        committed = std::stol(session->row.notes);
        ASSERT_GE(committed, said) << "round " << round;
        ASSERT_LE(committed, said + 1) << "at most the one that was under way";
        ASSERT_EQ(session->options, session->row.notes);
        ASSERT_EQ(session->plan, session->row.notes + std::string(static_cast<std::size_t>(committed * 977 % 30000), 'p'));
        withCommits += committed > before ? 1 : 0;
    }
    EXPECT_GT(withCommits, 50) << "the moments must lie within the changes";
}

} // namespace
} // namespace loadline
