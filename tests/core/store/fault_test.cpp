// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of the disk at every single call, and deaths of the machine at every single call. The states that the store goes through are
// recorded; whatever happens, the file afterwards equals one of them, and not one before the last commit that was confirmed.
#include "core/store/store.hpp"
#include "tests/core/store/fault_files.hpp"
#include "tests/core/store/store_fixtures.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <string>

namespace loadline {
namespace {

using test::Fault;
using test::FaultFiles;
using test::sampleRun;
using test::sampleSession;

const char* const kFile = "/faulty/loadline.db";

StoreOptions optionsOf(const FaultFiles& files)
{
    return {.busyMilliseconds = 0, .vfs = files.name()};
}

using Step = std::function<std::optional<Error>(Store&)>;

template <class T>
std::optional<Error> problemOf(const Result<T>& result)
{
    return result ? std::nullopt : std::optional(result.error());
}

/// A short life of a store. Each step is one commit.
const std::vector<Step>& steps()
{
    static const std::vector<Step> kSteps{
        [](Store& s) {
            auto session = sampleSession("first");
            return s.saveSession(session);
        },
        [](Store& s) { return problemOf(s.addRun(sampleRun(1, 5))); },
        [](Store& s) {
            std::vector<StepMetric> metrics(300);
            for (std::size_t i = 0; i < metrics.size(); ++i)
                metrics[i].step = static_cast<std::int64_t>(i);
            return s.addMetrics(1, metrics);
        },
        [](Store& s) {
            return s.setTags(1, {"x", "y"}, 9);
        },
        [](Store& s) {
            auto session = s.session(1);
            if (!session)
                return std::optional(session.error());
            session->plan = std::string(40000, 'q');
            return s.saveSession(*session);
        },
        [](Store& s) { return problemOf(s.duplicateSession(1, "second", 10)); },
        [](Store& s) { return s.removeSession(1, 11); },
        [](Store& s) { return problemOf(s.purge(12)); },
    };
    return kSteps;
}

/// Everything that can be read, as one text.
Result<std::string> stateOf(Store& store)
{
    std::string state;
    for (const bool removed : {false, true}) {
        const auto rows = store.sessions({.removed = removed});
        if (!rows)
            return rows.error();
        for (const auto& row : *rows) {
            const auto session = store.session(row.id);
            if (!session)
                return session.error();
            const auto runs = store.runs(row.id);
            if (!runs)
                return runs.error();
            state += row.name + '|' + session->plan + '|' + std::to_string(row.revision) + (removed ? "-" : "+");
            for (const auto& tag : row.tags)
                state += ',' + tag;
            for (const auto& run : *runs) {
                const auto metrics = store.metrics(run.id);
                if (!metrics)
                    return metrics.error();
                state += '/' + run.outcome + std::to_string(metrics->size());
            }
        }
    }
    return state;
}

/// state[n]: after n steps without faults.
std::vector<std::string> recordedStates()
{
    FaultFiles files;
    auto store = Store::open(kFile, optionsOf(files));
    EXPECT_TRUE(store) << store.error().message;
    std::vector<std::string> states{*stateOf(*store)};
    for (const auto& step : steps()) {
        const auto problem = step(*store);
        EXPECT_FALSE(problem) << problem->message;
        states.push_back(*stateOf(*store));
    }
    return states;
}

/// Opens and goes through the steps until one fails. Returns how many were confirmed.
std::size_t confirmedSteps(FaultFiles& files)
{
    auto store = Store::open(kFile, optionsOf(files));
    if (!store) {
        EXPECT_THAT(store.error().message, testing::HasSubstr(kFile));
        return 0;
    }
    std::size_t confirmed = 0;
    for (const auto& step : steps()) {
        if (const auto problem = step(*store)) {
            EXPECT_THAT(problem->message, testing::HasSubstr(kFile));
            return confirmed;
        }
        ++confirmed;
    }
    return confirmed;
}

/// The file holds what was confirmed, or that and the step that was under way.
void expectOneOf(FaultFiles& files, const std::vector<std::string>& states, std::size_t confirmed)
{
    auto store = Store::open(kFile, optionsOf(files));
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_FALSE(store->readOnly());
    EXPECT_THAT(store->notices(), testing::IsEmpty()) << "never taken for damaged";
    EXPECT_THAT(*store->check(), testing::IsEmpty());
    const auto state = stateOf(*store);
    ASSERT_TRUE(state) << state.error().message;
    const auto next = std::min(confirmed + 1, states.size() - 1);
    EXPECT_TRUE(*state == states[confirmed] || *state == states[next]) << "after " << confirmed << " confirmed steps";
}

class FaultTest : public testing::TestWithParam<std::tuple<Fault, bool>> {};

TEST_P(FaultTest, AtEveryCallNoCommitIsLost)
{
    const auto [fault, lasting] = GetParam();
    const auto states = recordedStates();
    std::int64_t faults = 0;
    for (std::int64_t nth = 1;; ++nth) {
        SCOPED_TRACE("call " + std::to_string(nth));
        FaultFiles files;
        files.failAt(nth, fault, lasting);
        const auto confirmed = confirmedSteps(files);
        const bool failed = files.failed();
        files.heal();
        expectOneOf(files, states, confirmed);
        if (!failed || HasFailure())
            break;
        ++faults;
    }
    EXPECT_GE(faults, fault == Fault::OpenError ? 2 : 8);
}

INSTANTIATE_TEST_SUITE_P(All, FaultTest,
                         testing::Combine(testing::Values(Fault::ReadError, Fault::WriteError, Fault::ShortWrite, Fault::DiskFull,
                                                          Fault::SyncError, Fault::OpenError, Fault::AnyError),
                                          testing::Bool()));

/// A step that failed can be taken again with the same open store.
TEST(Faults, RetryingAfterATransientFaultReachesTheEnd)
{
    const auto states = recordedStates();
    for (std::int64_t nth = 1;; ++nth) {
        SCOPED_TRACE("call " + std::to_string(nth));
        FaultFiles files;
        auto store = Store::open(kFile, optionsOf(files));
        ASSERT_TRUE(store);
        files.failAt(nth, Fault::AnyError, false);
        std::size_t done = 0;
        while (done < steps().size()) {
            const auto before = done;
            if (!steps()[done](*store)) {
                ++done;
                continue;
            }
            // The commit may have been made although it was not confirmed: then going on is right.
            const auto state = stateOf(*store);
            ASSERT_TRUE(state) << state.error().message;
            if (*state == states[done + 1])
                ++done;
            else
                ASSERT_EQ(*state, states[done]);
            if (!steps()[before](*store) && done == before)
                ++done;
        }
        const bool failed = files.failed();
        EXPECT_EQ(*stateOf(*store), states.back());
        if (!failed || testing::Test::HasFailure())
            break;
    }
}

TEST(Faults, AfterADeathAtEveryCallTheFileIsOneOfTheRecordedStates)
{
    const auto states = recordedStates();
    std::mt19937 random(7);
    bool finished = false;
    for (std::int64_t nth = 1; !finished && !testing::Test::HasFailure(); ++nth) {
        for (int way = 0; way < 4; ++way) {
            SCOPED_TRACE("call " + std::to_string(nth) + ", way " + std::to_string(way));
            FaultFiles files;
            files.dieAt(nth);
            const auto confirmed = confirmedSteps(files);
            finished = confirmed == steps().size() && files.calls() < nth;
            files.restart(random);
            expectOneOf(files, states, confirmed);
        }
    }
}

} // namespace
} // namespace loadline
