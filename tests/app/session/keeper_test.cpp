// SPDX-License-Identifier: GPL-3.0-or-later
// Sessions on their own thread: what was saved comes back equal, with its undo history; a save that fails is tried again.
#include "app/session/keeper.hpp"

#include "app/session/documents.hpp"
#include "core/model/reader.hpp"

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace loadline;

namespace {

Inputs inputsOf(const char* model, std::int64_t budget)
{
    Inputs inputs;
    inputs.options.model = model;
    inputs.model = std::make_shared<const Model>(*loadModel(model));
    inputs.budget = Bytes(budget);
    return inputs;
}

KeptSession sessionWithHistory()
{
    KeptSession session;
    const Inputs first = inputsOf("gpt-tiny", 1000);
    Inputs second = first;
    second.budget = Bytes(2000);
    second.options.pins = {"*.mlp.*=dp"};
    Inputs third = inputsOf("gpt2-small", 3000);
    session.history.push({QStringLiteral("Budget"), first, second, {}});
    session.history.push({QStringLiteral("Open"), second, third, {}});
    session.history.undo();
    session.inputs = second;
    session.row.name = "mine";
    return session;
}

class Kept : public testing::Test {
protected:
    QString file() const { return m_folder.filePath(QStringLiteral("s/loadline.db")); }
    static bool settle(const Keeper& keeper)
    {
        return QTest::qWaitFor([&] { return keeper.idle(); }, 20'000);
    }
    QTemporaryDir m_folder;
};

} // namespace

TEST(History, ComesBackFromText)
{
    const KeptSession session = sessionWithHistory();
    auto back = readHistory(historyJson(session.history), "test");
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(back->steps().size(), 2U);
    EXPECT_EQ(back->done(), 1U);
    EXPECT_EQ(back->redoName(), QStringLiteral("Open"));
    const auto redone = back->redo();
    ASSERT_TRUE(redone);
    EXPECT_EQ(redone->budget, Bytes(3000));
    EXPECT_EQ(redone->model->name, loadModel("gpt2-small")->name);
    const std::string text = historyJson(session.history);
    for (std::size_t cut = 0; cut < text.size(); cut += text.size() / 40 + 1)
        EXPECT_FALSE(readHistory(text.substr(0, cut), "test").ok());
}

TEST(Options, ComeBackFromText)
{
    RequestOptions options;
    options.model = "x";
    options.nodes = 3;
    options.pins = {"a=dp", "b=zdp"};
    const auto back = readRequestOptions(requestOptionsJson(options, Bytes(77)), "test");
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(requestOptionsJson(back->options, back->budget), requestOptionsJson(options, Bytes(77)));
    EXPECT_FALSE(readRequestOptions("{}", "test").ok());
    EXPECT_FALSE(readRequestOptions("[1", "test").ok());
}

TEST_F(Kept, IsThereAfterARestartWithItsHistory)
{
    {
        Keeper keeper(file());
        keeper.save(sessionWithHistory());
    } // closing writes what waits
    Keeper keeper(file());
    KeptSessionPtr loaded;
    QObject::connect(&keeper, &Keeper::loaded, &keeper, [&](const KeptSessionPtr& session) { loaded = session; });
    keeper.loadNewest();
    ASSERT_TRUE(QTest::qWaitFor([&] { return loaded != nullptr; }, 20'000));
    EXPECT_EQ(loaded->row.name, "mine");
    EXPECT_EQ(loaded->inputs.budget, Bytes(2000));
    EXPECT_EQ(loaded->inputs.options.pins, std::vector<std::string>{"*.mlp.*=dp"});
    EXPECT_EQ(loaded->history.undoName(), QStringLiteral("Budget"));
    EXPECT_TRUE(loaded->history.canRedo());
}

TEST_F(Kept, ManySavesAtOnceAreOneSessionAndTheNewestWins)
{
    {
        Keeper keeper(file());
        KeptSession session = sessionWithHistory();
        for (int i = 1; i <= 20; ++i) {
            session.inputs.budget = Bytes(i);
            keeper.save(session);
        }
    }
    auto store = Store::open(file().toStdString());
    ASSERT_TRUE(store.ok());
    const auto rows = store->sessions();
    ASSERT_TRUE(rows.ok());
    ASSERT_EQ(rows->size(), 1U);
    EXPECT_EQ(rows->front().budget, Bytes(20));
}

TEST_F(Kept, IsRenamedTaggedCopiedDeletedAndBroughtBack)
{
    Keeper keeper(file());
    std::vector<SessionRow> rows;
    QObject::connect(&keeper, &Keeper::listed, &keeper, [&](const std::vector<SessionRow>& all) { rows = all; });
    SessionId id = 0;
    QObject::connect(&keeper, &Keeper::saved, &keeper, [&](const SessionRow& row) { id = row.id; });
    keeper.save(sessionWithHistory());
    ASSERT_TRUE(QTest::qWaitFor([&] { return id != 0; }, 20'000));
    keeper.rename(id, QStringLiteral("other"));
    keeper.setTags(id, QStringLiteral(" b, a ,"));
    keeper.setNotes(id, QStringLiteral("note"));
    keeper.duplicate(id);
    keeper.list({});
    ASSERT_TRUE(QTest::qWaitFor([&] { return rows.size() == 2; }, 20'000));
    const auto one = std::find_if(rows.begin(), rows.end(), [&](const SessionRow& row) { return row.id == id; });
    ASSERT_NE(one, rows.end());
    EXPECT_EQ(one->name, "other");
    EXPECT_EQ(one->tags, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(one->notes, "note");
    keeper.remove(id);
    keeper.list({});
    ASSERT_TRUE(QTest::qWaitFor([&] { return rows.size() == 1; }, 20'000));
    keeper.restore(id);
    keeper.list({});
    ASSERT_TRUE(QTest::qWaitFor([&] { return rows.size() == 2; }, 20'000));
}

TEST_F(Kept, ASaveThatFailsIsSaidAndTriedAgain)
{
    QFile wall(m_folder.filePath(QStringLiteral("s"))); // where the folder should be
    ASSERT_TRUE(wall.open(QIODevice::WriteOnly));
    wall.close();
    Keeper keeper(file());
    keeper.setRetry(50);
    QStringList troubles;
    bool saved = false;
    QObject::connect(&keeper, &Keeper::trouble, &keeper, [&](const QString& words) { troubles << words; });
    QObject::connect(&keeper, &Keeper::saved, &keeper, [&](const SessionRow&) { saved = true; });
    keeper.save(sessionWithHistory());
    ASSERT_TRUE(QTest::qWaitFor([&] { return troubles.size() >= 2; }, 20'000));
    EXPECT_FALSE(saved);
    EXPECT_FALSE(troubles.first().isEmpty());
    ASSERT_TRUE(wall.remove());
    EXPECT_TRUE(QTest::qWaitFor([&] { return saved; }, 20'000));
    EXPECT_TRUE(settle(keeper));
}
