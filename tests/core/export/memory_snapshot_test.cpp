// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.hpp"
#include "core/export/memory_snapshot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>
#include <streambuf>
#include <sys/resource.h>

// The snapshots are made by tests/data/snapshots/make_snapshots.py with Python's own pickle, which also counts what is expected of them.
namespace loadline {
namespace {

using testing::HasSubstr;

const std::string kFolder = LOADLINE_SOURCE_DIR "/tests/data/snapshots/";

Result<MemorySnapshot> readFile(const std::string& name)
{
    std::ifstream in(kFolder + name, std::ios::binary);
    EXPECT_TRUE(in) << name;
    return readMemorySnapshot(in, "'" + name + "'");
}

std::string contents(const std::string& name)
{
    std::ifstream in(kFolder + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string errorOf(std::string bytes)
{
    std::istringstream in(std::move(bytes));
    const auto read = readMemorySnapshot(in, "'s.pickle'");
    return read ? std::string() : read.error().message;
}

void expectFigures(const MemorySnapshot& snapshot, const std::string& key)
{
    const std::string text = contents("expected.json");
    const auto json = parseJson(text, "expected.json");
    ASSERT_TRUE(json);
    const Json& expected = (*json)[key];
    ASSERT_EQ(snapshot.devices.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const DeviceMemory& device = snapshot.devices[i];
        EXPECT_EQ(device.device, expected[i]["device"].get<std::int64_t>());
        EXPECT_EQ(device.events, expected[i]["events"].get<std::int64_t>());
        EXPECT_EQ(device.atStart.count(), expected[i]["at_start"].get<std::int64_t>());
        EXPECT_EQ(device.atEnd.count(), expected[i]["at_end"].get<std::int64_t>());
        EXPECT_EQ(device.peak.count(), expected[i]["peak"].get<std::int64_t>());
        EXPECT_EQ(device.reserved.count(), expected[i]["reserved"].get<std::int64_t>());
    }
}

TEST(MemorySnapshot, FiguresAreThoseThatPythonCounts)
{
    for (const char* name : {"two_devices.pickle", "two_devices_protocol_2.pickle"}) {
        SCOPED_TRACE(name);
        const auto snapshot = readFile(name);
        ASSERT_TRUE(snapshot) << snapshot.error().message;
        expectFigures(*snapshot, "two_devices");
        EXPECT_TRUE(snapshot->notes.empty());
        const DeviceMemory& first = snapshot->devices[0];
        ASSERT_EQ(static_cast<std::int64_t>(first.curve.size()), first.events);
        EXPECT_LT(first.curve.front().at, first.curve.back().at);
    }
    const auto one = readFile("one_event.pickle"); // lists of one entry are put together by other opcodes
    ASSERT_TRUE(one) << one.error().message;
    expectFigures(*one, "one_event");
}

TEST(MemorySnapshot, WithoutAHistoryItSaysWhatToDo)
{
    const auto snapshot = readFile("no_history.pickle");
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    EXPECT_TRUE(snapshot->devices[0].curve.empty());
    EXPECT_GT(snapshot->devices[0].atEnd, Bytes());
    ASSERT_EQ(snapshot->notes.size(), 1U);
    EXPECT_THAT(snapshot->notes[0], HasSubstr("_record_memory_history"));
}

TEST(MemorySnapshot, NothingIsExecuted)
{
    testing::internal::CaptureStdout();
    const std::string message = errorOf(contents("call.pickle"));
    EXPECT_THAT(message, HasSubstr("nothing of it is executed"));
    EXPECT_THAT(message, HasSubstr("opcode 0x93")); // STACK_GLOBAL: the name of os.system
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(MemorySnapshot, OtherFilesAreNamed)
{
    EXPECT_THAT(errorOf(contents("other.pickle")), HasSubstr("neither \"device_traces\" nor \"segments\""));
    EXPECT_THAT(errorOf("{\"loadline-run\": 1}"), HasSubstr("not a memory snapshot"));
    EXPECT_THAT(errorOf(""), HasSubstr("not a memory snapshot"));
    EXPECT_THAT(errorOf("\x80\x04u"), HasSubstr("a mark is missing"));
    EXPECT_THAT(errorOf("\x80\x04" + std::string(10'000, ']') + "."), HasSubstr("more values"));
}

TEST(MemorySnapshot, CutOffAnywhereIsAnError)
{
    const std::string whole = contents("one_event.pickle");
    for (std::size_t length = 0; length < whole.size(); ++length)
        ASSERT_NE(errorOf(whole.substr(0, length)), "") << length;
    EXPECT_EQ(errorOf(whole), "");
}

/// A snapshot with `count` allocations of 1 MiB and their frees in turn, made while it is read.
class LongRecord : public std::streambuf {
public:
    explicit LongRecord(std::int64_t count) : m_left(count)
    {
        using namespace std::string_literals;
        m_text = "\x80\x04}(\x8c\x0d"s + "device_traces](](";
        setg(m_text.data(), m_text.data(), m_text.data() + m_text.size());
    }

protected:
    int_type underflow() override
    {
        if (m_left < 0)
            return traits_type::eof();
        m_text.clear();
        for (int i = 0; i < 500 && m_left > 0; ++i, --m_left) {
            event("alloc");
            event("free_requested");
        }
        m_text += m_left > 0 ? "e(" : "eeu.";
        m_left = m_left > 0 ? m_left : -1;
        m_bytes += static_cast<std::int64_t>(m_text.size());
        setg(m_text.data(), m_text.data(), m_text.data() + m_text.size());
        return traits_type::to_int_type(m_text.front());
    }

private:
    void words(const std::string& word)
    {
        m_text += '\x8c';
        m_text += static_cast<char>(word.size());
        m_text += word;
        m_text += '\x94';
    }
    void event(const std::string& action)
    {
        m_text += "}\x94(";
        words("action");
        words(action);
        words("size");
        m_text += std::string("J\0\0\x10\0", 5);
        words("frames"); // what most of a real snapshot consists of
        m_text += "]\x94(";
        words(std::string(100, 'f'));
        m_text += "e";
        m_text += "u";
    }
    std::int64_t m_left;
    std::string m_text;

public:
    std::int64_t m_bytes = 0;
};

std::int64_t mostResident()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
}

TEST(MemorySnapshot, MemoryDoesNotGrowWithTheFile)
{
    LongRecord record(200'000);
    std::istream in(&record);
    const std::int64_t before = mostResident();
    const auto snapshot = readMemorySnapshot(in, "'long.pickle'");
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    EXPECT_GT(record.m_bytes, 50'000'000);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // they keep what is freed, and shadows of it
    EXPECT_LT(mostResident() - before, 16'000'000);
#else
    EXPECT_GE(mostResident(), before);
#endif
    const DeviceMemory& device = snapshot->devices.at(0);
    EXPECT_EQ(device.events, 400'000);
    EXPECT_EQ(device.peak, Bytes(1 << 20)); // found whatever was put together
    EXPECT_LE(device.curve.size(), 8192U);
    EXPECT_EQ(device.curve.back().least, Bytes());
}

} // namespace
} // namespace loadline
