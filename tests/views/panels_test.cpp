// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/library.hpp"
#include "core/model/reader.hpp"
#include "views/models/fuzzy.hpp"
#include "views/panels/command_palette.hpp"
#include "views/panels/operator_details.hpp"
#include "views/panels/shortcut_sheet.hpp"

#include <gtest/gtest.h>

#include <QAction>
#include <QCoreApplication>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <QTreeWidget>

using namespace loadline;

namespace {

PlanPicturePtr planned()
{
    PlanRequest request;
    request.setup.model = std::make_shared<const Model>(*loadModel("gpt2-small"));
    request.setup.cluster = bundledClusters().front();
    request.setup.precision = bundledPrecisions().front();
    request.setup.optimizer = bundledOptimizers().front();
    request.setup.rules = loadlineRules();
    request.setup.sequence = 256;
    request.budget = Bytes(std::int64_t{1} << 34);
    auto picture = std::make_shared<PlanPicture>();
    picture->outcome = std::make_shared<const PlanOutcome>(*makePlan(request));
    return picture;
}

} // namespace

TEST(Fuzzy, LettersInOrderMatch)
{
    EXPECT_TRUE(fuzzyScore(QStringLiteral("cpl"), QStringLiteral("Copy as command line")));
    EXPECT_FALSE(fuzzyScore(QStringLiteral("xyz"), QStringLiteral("Copy as command line")));
    EXPECT_FALSE(fuzzyScore(QStringLiteral("lc"), QStringLiteral("Copy al")));
    EXPECT_TRUE(fuzzyScore({}, QStringLiteral("anything")));
}

TEST(Fuzzy, BeginningsOfWordsWin)
{
    const QString typed = QStringLiteral("wd");
    EXPECT_GT(*fuzzyScore(typed, QStringLiteral("Whole device in view")), *fuzzyScore(typed, QStringLiteral("Two fields")));
    EXPECT_GT(*fuzzyScore(QStringLiteral("open"), QStringLiteral("Open")),
              *fuzzyScore(QStringLiteral("open"), QStringLiteral("Open the sample")));
}

TEST(CommandPalette, FindsAndRunsACommand)
{
    QWidget window;
    window.resize(800, 600);
    QAction open(QStringLiteral("&Open\u2026"));
    QAction undo(QStringLiteral("Undo"));
    QAction grey(QStringLiteral("Open session"));
    grey.setEnabled(false);
    undo.setShortcut(QKeySequence(QStringLiteral("Ctrl+Z")));
    QSignalSpy ran(&undo, &QAction::triggered);
    CommandPalette palette(&window);
    palette.openWith({&grey, &open, &undo});
    EXPECT_EQ(palette.shownWords(), (QStringList{QStringLiteral("Open"), QStringLiteral("Undo"), QStringLiteral("Open session")}));
    QTest::keyClicks(palette.field(), QStringLiteral("op"));
    EXPECT_EQ(palette.shownWords(), (QStringList{QStringLiteral("Open"), QStringLiteral("Open session")}));
    palette.field()->clear();
    QTest::keyClick(palette.field(), Qt::Key_Down);
    QTest::keyClick(palette.field(), Qt::Key_Return);
    EXPECT_EQ(ran.count(), 1);
    EXPECT_FALSE(palette.isVisible());
}

TEST(CommandPalette, AGreyCommandDoesNotRun)
{
    QWidget window;
    QAction grey(QStringLiteral("Redo"));
    grey.setEnabled(false);
    QSignalSpy ran(&grey, &QAction::triggered);
    CommandPalette palette(&window);
    palette.openWith({&grey});
    QTest::keyClick(palette.field(), Qt::Key_Return);
    EXPECT_EQ(ran.count(), 0);
    EXPECT_TRUE(palette.isVisible());
}

TEST(ShortcutSheet, ShowsEveryKeyOnce)
{
    QAction open(QStringLiteral("Open\u2026"));
    open.setShortcut(QKeySequence(QStringLiteral("Ctrl+O")));
    QAction keyless(QStringLiteral("About"));
    const KeyGroup group = keysOf(QStringLiteral("File"), {&open, &keyless});
    ASSERT_EQ(group.keys.size(), 1U);
    ShortcutSheet sheet({group, {QStringLiteral("Empty"), {}}});
    ASSERT_EQ(sheet.tree()->topLevelItemCount(), 1);
    EXPECT_EQ(sheet.tree()->topLevelItem(0)->child(0)->text(0), QStringLiteral("Open"));
    EXPECT_EQ(sheet.tree()->topLevelItem(0)->child(0)->text(1), QStringLiteral("Ctrl+O"));
}

TEST(OperatorDetails, EveryFigureHasAFormulaAndValues)
{
    const PlanPicturePtr picture = planned();
    ASSERT_NE(picture->plan(), nullptr);
    OperatorDetails details;
    details.resize(900, 240);
    std::size_t unit = 0;
    while (picture->plan()->table.units[unit].name != "transformer.h.3.mlp.c_fc")
        ++unit;
    details.setUnit(picture, unit, Bytes(std::int64_t{20} << 30));
    EXPECT_TRUE(details.heading().contains(QStringLiteral("transformer.h.3.mlp.c_fc")));
    EXPECT_TRUE(details.heading().contains(QStringLiteral("20.0 GiB")));
    ASSERT_GT(details.table()->topLevelItemCount(), 5);
    for (int row = 0; row < details.table()->topLevelItemCount(); ++row) {
        for (int column = 0; column < 4; ++column)
            EXPECT_FALSE(details.table()->topLevelItem(row)->text(column).isEmpty()) << row << ", " << column;
    }
    EXPECT_EQ(details.map()->points(), picture->plan()->table.options(unit).size());
    details.clear();
    EXPECT_EQ(details.map()->points(), 0U);
}

TEST(ChoiceMap, PointsLieInsideAndAnswerTheKeyboard)
{
    const PlanPicturePtr picture = planned();
    ChoiceMap map;
    map.resize(240, 140);
    map.setUnit(picture, 3); // the first norm
    ASSERT_GT(map.points(), 1U);
    for (std::size_t i = 0; i < map.points(); ++i)
        EXPECT_TRUE(QRectF(map.rect()).contains(map.position(i)));
    QSignalSpy words(&map, &ChoiceMap::hovered);
    map.show();
    QTest::keyClick(&map, Qt::Key_Right);
    ASSERT_EQ(words.count(), 1);
    EXPECT_TRUE(words.first().first().toString().contains(QStringLiteral("stay")));
}
