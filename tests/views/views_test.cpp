// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/library.hpp"
#include "core/model/reader.hpp"
#include "views/charts/budget_handle.hpp"
#include "views/charts/memory_chart.hpp"
#include "views/charts/time_chart.hpp"
#include "views/format/text.hpp"
#include "views/models/baseline_model.hpp"
#include "views/models/change_model.hpp"
#include "views/models/operator_tree_model.hpp"
#include "views/palette.hpp"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QCoreApplication>

#include <algorithm>

using namespace loadline;

namespace {

PlanPicturePtr pictureAt(const std::string& model, Bytes budget)
{
    PlanRequest request;
    request.setup.model = std::make_shared<const Model>(*loadModel(model));
    request.setup.cluster = bundledClusters().front();
    request.setup.precision = bundledPrecisions().front();
    request.setup.optimizer = bundledOptimizers().front();
    request.setup.rules = loadlineRules();
    request.setup.sequence = 512;
    request.budget = budget;
    auto picture = std::make_shared<PlanPicture>();
    picture->outcome = std::make_shared<const PlanOutcome>(*makePlan(request));
    if (const Plan* plan = picture->plan())
        picture->timeline = std::make_shared<const Timeline>(playTimeline(plan->table, plan->choice));
    picture->device = request.setup.cluster.device.memory;
    return picture;
}

} // namespace

TEST(Palette, TextIsReadableInBothThemes)
{
    for (const Palette* colors : {&lightPalette(), &darkPalette()}) {
        for (const QColor& ground : {colors->ground, colors->panel}) {
            for (const QColor& words : {colors->text, colors->softText, colors->better, colors->worse})
                EXPECT_GE(contrast(words, ground), 4.5) << words.name().toStdString() << " on " << ground.name().toStdString();
            EXPECT_GE(contrast(colors->budget, ground), 3.0);
        }
        EXPECT_GE(contrast(colors->onBudget, colors->budget), 4.5);
        EXPECT_GE(contrast(colors->onAccent, colors->accent), 4.5);
    }
}

TEST(Palette, CategoriesAreAllDifferent)
{
    for (const Palette* colors : {&lightPalette(), &darkPalette()}) {
        for (std::size_t a = 0; a < kMemoryCategories; ++a) {
            for (std::size_t b = a + 1; b < kMemoryCategories; ++b)
                EXPECT_NE(colors->category[a], colors->category[b]);
        }
    }
}

TEST(Text, BudgetsAreReadAsTyped)
{
    EXPECT_EQ(readBudget(QStringLiteral("72"), 80_GiB)->count(), (72_GiB).count());
    EXPECT_EQ(readBudget(QStringLiteral(" 2048 MiB "), 80_GiB)->count(), (2_GiB).count());
    EXPECT_EQ(readBudget(QStringLiteral("50%"), 80_GiB)->count(), (40_GiB).count());
    EXPECT_FALSE(readBudget(QStringLiteral("much"), 80_GiB).ok());
    EXPECT_FALSE(readBudget(QStringLiteral("-3"), 80_GiB).ok());
}

TEST(Text, FractionsOfGibAreWhatTheTerminalReads)
{
    for (const int tenths : {1, 7, 383, 740, 800})
        EXPECT_EQ(fractionOfGib(tenths, 10), *readBudget(QString::number(tenths / 10.0, 'f', 1), 80_GiB)) << tenths;
}

TEST(Text, StrategiesHaveWords)
{
    EXPECT_EQ(strategyText({1, 1, 0, false, true}, 8), QStringLiteral("replicated"));
    EXPECT_EQ(strategyText({8, 1, 1, false, true}, 8), QStringLiteral("sharded"));
    EXPECT_EQ(strategyText({8, 4, 2, true, true}, 8), QStringLiteral("2 of 4 sharded, recomputed"));
    EXPECT_EQ(strategyText({4, 1, 1, false, false}, 8), QStringLiteral("sharded by 4, kept"));
}

TEST(Changes, NumbersJoinInRuns)
{
    EXPECT_EQ(runsText({0, 1, 2, 3, 7, 9, 10}), QStringLiteral("0\u20133, 7, 9, 10"));
    EXPECT_EQ(runsText({}), QString());
}

TEST(MemoryChart, MaximumIsThePeakToTheByte)
{
    MemoryChart chart;
    chart.resize(800, 300);
    chart.setTop(80_GiB);
    const PlanPicturePtr picture = pictureAt("gpt-tiny", bundledClusters().front().device.memory);
    ASSERT_TRUE(picture->plan());
    chart.setPicture(picture);
    EXPECT_EQ(chart.maximum().count(), picture->plan()->peak.count());
}

TEST(TimeChart, PartsSumToComputeAndCommunication)
{
    TimeChart chart;
    const PlanPicturePtr picture = pictureAt("gpt-tiny", bundledClusters().front().device.memory);
    chart.setPicture(picture);
    double exposed = 0;
    for (std::size_t unit = 0; unit < picture->plan()->table.units.size(); ++unit)
        exposed += chart.seconds(unit)[2];
    EXPECT_NEAR(exposed, picture->plan()->time.exposed.value(), 1e-9 + 1e-6 * picture->plan()->time.overlapped.value());
}

TEST(Models, StandTheModelTester)
{
    OperatorTreeModel tree;
    QAbstractItemModelTester treeTester(&tree, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const PlanPicturePtr all = pictureAt("gpt-tiny", bundledClusters().front().device.memory);
    tree.setPicture(all);
    EXPECT_EQ(tree.units(), all->plan()->table.units.size());
    for (std::size_t unit = 0; unit < tree.units(); ++unit)
        EXPECT_EQ(tree.data(tree.indexOfUnit(unit), OperatorTreeModel::UnitRole).toInt(), static_cast<int>(unit));
    tree.setPicture(pictureAt("gpt-tiny", all->plan()->peak));
    tree.setPicture(pictureAt("gpt2-xl", bundledClusters().front().device.memory));

    ChangeModel changes;
    QAbstractItemModelTester changeTester(&changes, QAbstractItemModelTester::FailureReportingMode::Fatal);
    Change change;
    change.where = QStringLiteral("lm_head");
    changes.setChanges({change, change});
    EXPECT_EQ(changes.rowCount(), 2);
    changes.setChanges({});

    BaselineModel table;
    QAbstractItemModelTester tableTester(&table, QAbstractItemModelTester::FailureReportingMode::Fatal);
    table.setBaselines(baselines(all->plan()->table, all->outcome->budget));
    table.setPicture(all);
    EXPECT_GT(table.rowCount(), 1);
}
