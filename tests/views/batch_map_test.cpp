// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/batch_map.hpp"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QSignalSpy>
#include <QTest>

using namespace loadline;

namespace {

/// 3 batches x 2 accumulations; the last batch does not fit.
std::shared_ptr<const BatchSurface> surface()
{
    auto made = std::make_shared<BatchSurface>();
    made->batches = {1, 2, 4};
    made->accumulations = {1, 2};
    made->cells = {{1, 1, true, 10, Bytes(100)}, {1, 2, true, 12, Bytes(100)}, {2, 1, true, 14, Bytes(150)},
                   {2, 2, true, 20, Bytes(150)}, {4, 1, false, 0, Bytes(300)}, {4, 2, false, 0, Bytes(300)}};
    made->budget = Bytes(200);
    return made;
}

struct Shown {
    BatchMap map;
    QSignalSpy chosen{&map, &BatchMap::cellChosen};

    Shown()
    {
        map.resize(320, 200);
        map.setSurface(surface());
        map.setShown(1, 1);
        map.show();
        QCoreApplication::processEvents();
    }
};

} // namespace

TEST(BatchMap, AClickChoosesTheCellUnderIt)
{
    Shown shown;
    QTest::mouseClick(&shown.map, Qt::LeftButton, {}, shown.map.cellRect(1, 0).center());
    ASSERT_EQ(shown.chosen.count(), 1);
    EXPECT_EQ(shown.chosen.first().at(0).toLongLong(), 2);
    EXPECT_EQ(shown.chosen.first().at(1).toLongLong(), 1);
}

TEST(BatchMap, CellsDoNotOverlapAndStayInside)
{
    Shown shown;
    for (std::size_t b = 0; b < 3; ++b) {
        for (std::size_t a = 0; a < 2; ++a) {
            EXPECT_TRUE(shown.map.rect().contains(shown.map.cellRect(b, a)));
            EXPECT_FALSE(b < 2 && shown.map.cellRect(b, a).intersects(shown.map.cellRect(b + 1, a)));
        }
    }
    EXPECT_GT(shown.map.cellRect(0, 0).top(), shown.map.cellRect(0, 1).top()); // more micro-steps stand higher
}

TEST(BatchMap, TheKeyboardReachesEveryCell)
{
    Shown shown; // the cursor stands at the best cell: batch 2, 2 micro-steps
    QTest::keyClick(&shown.map, Qt::Key_Return);
    ASSERT_EQ(shown.chosen.count(), 1);
    EXPECT_EQ(shown.chosen.last().at(0).toLongLong(), 2);
    EXPECT_EQ(shown.chosen.last().at(1).toLongLong(), 2);
    for (const Qt::Key key : {Qt::Key_Left, Qt::Key_Left, Qt::Key_Down, Qt::Key_Down})
        QTest::keyClick(&shown.map, key);
    QTest::keyClick(&shown.map, Qt::Key_Space);
    EXPECT_EQ(shown.chosen.last().at(0).toLongLong(), 1);
    EXPECT_EQ(shown.chosen.last().at(1).toLongLong(), 1);
}

TEST(BatchMap, SaysWhatDoesNotFitAndWhatItNeeds)
{
    Shown shown;
    QSignalSpy words(&shown.map, &BatchMap::hovered);
    QTest::mouseMove(&shown.map, shown.map.cellRect(2, 0).center());
    ASSERT_FALSE(words.isEmpty());
    EXPECT_TRUE(words.last().first().toString().contains(QStringLiteral("does not fit")));
    EXPECT_TRUE(shown.map.accessibleDescription().contains(QStringLiteral("batch 2, 2 micro-steps")));
}

TEST(BatchMap, IsEmptyWithoutASurface)
{
    BatchMap map;
    map.resize(200, 100);
    map.show();
    QCoreApplication::processEvents();
    QTest::keyClick(&map, Qt::Key_Return);
    QTest::mouseClick(&map, Qt::LeftButton, {}, {50, 50});
    EXPECT_EQ(map.surface(), nullptr);
}
