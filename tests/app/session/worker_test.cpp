// SPDX-License-Identifier: GPL-3.0-or-later
// A stand-in for loadline-device that speaks badly on purpose: whatever it does, there is one end with one sentence, and no process stays.
#include "app/session/worker.hpp"

#include <gtest/gtest.h>

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>

using namespace loadline;
using Kind = WorkerEnd::Kind;

namespace {

const QString kFake = QStringLiteral(LOADLINE_SOURCE_DIR "/tests/data/worker/fake-device");

class FakeDevice : public testing::Test {
protected:
    FakeDevice()
    {
        qputenv("LOADLINE_DEVICE", kFake.toLocal8Bit());
        m_worker.setLimits({60'000, 300, 1 << 20, 1 << 16});
        QObject::connect(&m_worker, &Worker::eventRead, &m_worker, [this](const WorkerEvent& event) { m_events.push_back(event); });
        QObject::connect(&m_worker, &Worker::ended, &m_worker, [this](const WorkerEnd& end) { m_ends.push_back(end); });
    }
    ~FakeDevice() override { qunsetenv("LOADLINE_DEVICE"); }

    bool wait()
    {
        const bool ended = QTest::qWaitFor([this] { return !m_ends.empty(); }, 20'000);
        QTest::qWait(30); // a second end would come now
        return ended && m_ends.size() == 1 && !m_worker.running();
    }
    WorkerEnd run(const char* verb)
    {
        m_events.clear();
        m_ends.clear();
        m_worker.start(QString::fromLatin1(verb), "{}\n");
        EXPECT_TRUE(m_worker.running());
        EXPECT_TRUE(wait()) << verb;
        return m_ends.empty() ? WorkerEnd{} : m_ends.front();
    }
    int progress() const
    {
        return static_cast<int>(std::count_if(m_events.begin(), m_events.end(),
                                              [](const WorkerEvent& event) { return std::holds_alternative<WorkerProgress>(event); }));
    }

    Worker m_worker;
    std::vector<WorkerEvent> m_events;
    std::vector<WorkerEnd> m_ends;
};

bool oneSentence(const QString& words)
{
    return !words.isEmpty() && !words.contains(QLatin1Char('\n')) && words.size() < 400;
}

} // namespace

TEST_F(FakeDevice, SaysWhatItMeasures)
{
    const WorkerEnd end = run("good");
    EXPECT_EQ(end.kind, Kind::Done);
    EXPECT_TRUE(end.why.isEmpty());
    ASSERT_EQ(m_events.size(), 4U);
    EXPECT_TRUE(std::holds_alternative<WorkerHello>(m_events[0]));
    EXPECT_EQ(std::get<WorkerProgress>(m_events[3]).what, "step 3");
    EXPECT_EQ(m_worker.lastWords(), QStringList{QStringLiteral("a word")});
}

TEST_F(FakeDevice, GetsTheRequestOnItsInput)
{
    run("echo");
    EXPECT_EQ(m_worker.lastWords(), QStringList{QStringLiteral("{}")});
}

TEST_F(FakeDevice, JoinsWhatComesInPieces)
{
    EXPECT_EQ(run("split").kind, Kind::Done);
    EXPECT_EQ(progress(), 1);
}

TEST_F(FakeDevice, SkipsEventsOfANewerDevice)
{
    EXPECT_EQ(run("newer").kind, Kind::Done);
    EXPECT_EQ(progress(), 1);
}

struct Bad {
    const char* verb;
    Kind kind;
    int progress; ///< events kept
    const char* says;
};
class Badly : public FakeDevice, public testing::WithParamInterface<Bad> {};

TEST_P(Badly, EndsWithOneSentence)
{
    const Bad& bad = GetParam();
    m_worker.setLimits({700, 300, 1 << 20, 1 << 16});
    const WorkerEnd end = run(bad.verb);
    EXPECT_EQ(end.kind, bad.kind) << end.why.toStdString();
    EXPECT_TRUE(oneSentence(end.why)) << end.why.toStdString();
    EXPECT_TRUE(end.why.contains(QLatin1String(bad.says))) << end.why.toStdString();
    EXPECT_EQ(progress(), bad.progress);
    EXPECT_EQ(run("good").kind, Kind::Done) << "it can be started again";
}
INSTANTIATE_TEST_SUITE_P(
    Verbs, Badly,
    testing::Values(Bad{"garbage", Kind::Misunderstood, 1, "protocol"}, Bad{"nohello", Kind::Misunderstood, 0, "protocol"},
                    Bad{"version", Kind::Misunderstood, 0, "protocol"}, Bad{"twice", Kind::Misunderstood, 0, "greets twice"},
                    Bad{"huge", Kind::Misunderstood, 0, "longer than"}, Bad{"silent", Kind::Silent, 0, "said nothing"},
                    Bad{"mute", Kind::Silent, 0, "said nothing"}, Bad{"empty", Kind::Died, 0, "without a word"},
                    Bad{"killed", Kind::Died, 0, "signal 9"}, Bad{"fails", Kind::Failed, 0, "rank 2 was killed"},
                    Bad{"refuses", Kind::Refused, 0, "steps is 'many'"}, Bad{"fault", Kind::Fault, 0, "something broke"},
                    Bad{"nodevice", Kind::NoDevice, 0, "no CUDA device"}),
    [](const auto& test) { return std::string(test.param.verb); });

TEST_F(FakeDevice, HalfALineAtTheEndDoesNotCount)
{
    EXPECT_EQ(run("truncated").kind, Kind::Done);
    EXPECT_EQ(progress(), 1);
}

TEST_F(FakeDevice, KeepsOnlyTheLastWords)
{
    EXPECT_EQ(run("noise").kind, Kind::Done);
    EXPECT_EQ(m_worker.lastWords().size(), 200);
    EXPECT_EQ(m_worker.lastWords().last(), QStringLiteral("word 19999"));
}

TEST_F(FakeDevice, StopsWhenAsked)
{
    for (const char* verb : {"polite", "deaf"}) {
        m_events.clear();
        m_ends.clear();
        m_worker.start(QString::fromLatin1(verb), "{}");
        ASSERT_TRUE(QTest::qWaitFor([this] { return progress() == 1; }, 10'000));
        QElapsedTimer clock;
        clock.start();
        m_worker.cancel();
        EXPECT_LT(clock.elapsed(), 100) << "cancel does not wait";
        ASSERT_TRUE(wait());
        EXPECT_EQ(m_ends.front().kind, Kind::Cancelled);
        EXPECT_TRUE(oneSentence(m_ends.front().why));
    }
    EXPECT_EQ(progress(), 1); // of the deaf one
}

TEST_F(FakeDevice, IsNotThere)
{
    qputenv("LOADLINE_DEVICE", "/no/such/program");
    const WorkerEnd end = run("good");
    EXPECT_EQ(end.kind, Kind::NotFound);
    EXPECT_TRUE(end.why.contains(QLatin1String("/no/such/program"))) << end.why.toStdString();
}

TEST(Worker, LeavesNoProcessBehindWhenItGoes)
{
    qputenv("LOADLINE_DEVICE", kFake.toLocal8Bit());
    QElapsedTimer clock;
    clock.start();
    {
        Worker worker;
        worker.setLimits({60'000, 200, 1 << 20, 1 << 16});
        bool greeted = false;
        QObject::connect(&worker, &Worker::eventRead, &worker, [&](const WorkerEvent&) { greeted = true; });
        worker.start(QStringLiteral("deaf"), "{}");
        ASSERT_TRUE(QTest::qWaitFor([&] { return greeted; }, 10'000));
    }
    EXPECT_LT(clock.elapsed(), 20'000);
    qunsetenv("LOADLINE_DEVICE");
}
