// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/store/store.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace loadline::test {

/// A folder that is there for one test.
class StoreFolder : public testing::Test {
protected:
    StoreFolder()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "loadline-store-XXXXXX").string();
        folder = ::mkdtemp(pattern.data());
        file = folder / "loadline.db";
    }
    ~StoreFolder() override
    {
        std::error_code none;
        std::filesystem::remove_all(folder, none);
    }

    [[nodiscard]] Store open(const StoreOptions& options = {}) const
    {
        auto store = Store::open(file, options);
        EXPECT_TRUE(store.ok()) << store.error().message;
        return std::move(store).value();
    }

    std::filesystem::path folder;
    std::filesystem::path file;
};

/// A session with something in every field that the caller sets.
inline SessionRecord sampleSession(const std::string& name, UnixTime when = 1000)
{
    SessionRecord session;
    session.row.name = name;
    session.row.model = "llama3-8b";
    session.row.cluster = "8xH100-80";
    session.row.budget = 72_GiB;
    session.row.step = Seconds(0.412);
    session.row.created = when;
    session.row.modified = when;
    session.row.tags = {"big", "try"};
    session.row.notes = "why it is slow";
    session.options = R"({"batch": "4"})";
    session.model = R"({"format": "loadline.model/1"})";
    session.cluster = R"({"format": "loadline.cluster/1"})";
    session.plan = R"({"format": "loadline.plan/1"})";
    session.undo = R"(["a", "b"])";
    session.window = R"({"page": 2})";
    return session;
}

inline RunRecord sampleRun(SessionId session, UnixTime when)
{
    RunRecord run;
    run.session = session;
    run.started = when;
    run.ranks = 4;
    run.outcome = "done";
    run.predictedStep = Seconds(0.4);
    run.measuredStep = Seconds(0.5);
    run.predictedPeak = Bytes(1000);
    run.measuredPeak = Bytes(1001);
    run.plan = R"({"format": "loadline.plan/1", "run": true})";
    run.result = R"({"losses": [1]})";
    return run;
}

} // namespace loadline::test
