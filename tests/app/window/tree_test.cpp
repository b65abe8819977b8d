// SPDX-License-Identifier: GPL-3.0-or-later
// The operator tree: pins by key and menu become constraints of the search, each one undo step; the filter's language.
#include "app/window/pin_edit.hpp"
#include "core/exchange/options_json.hpp"
#include "tests/app/window/open_window.hpp"
#include "views/models/operator_filter.hpp"
#include "views/models/operator_tree_model.hpp"
#include "views/panels/operator_panel.hpp"

#include <QLineEdit>
#include <QMenu>
#include <QTreeView>

using namespace loadline;

namespace {

class Tree : public OpenWindow {
protected:
    OperatorPanel& panel() { return m_window.operators(); }
    const Plan& plan() { return *m_window.session().committed()->outcome->plan; }
    std::size_t unitNamed(const std::string& name)
    {
        const auto& units = plan().table.units;
        const auto found = std::find_if(units.begin(), units.end(), [&](const Unit& unit) { return unit.name == name; });
        EXPECT_NE(found, units.end()) << name;
        return static_cast<std::size_t>(found - units.begin());
    }
    int leaves()
    {
        int count = 0;
        std::vector<QModelIndex> open{QModelIndex()};
        const QAbstractItemModel* rows = panel().view()->model();
        while (!open.empty()) {
            const QModelIndex at = open.back();
            open.pop_back();
            count += at.isValid() && at.data(OperatorTreeModel::UnitRole).toInt() >= 0 ? 1 : 0;
            for (int row = 0; row < rows->rowCount(at); ++row)
                open.push_back(rows->index(row, 0, at));
        }
        return count;
    }
    bool press(Qt::Key key)
    {
        QTest::keyClick(panel().view(), key);
        return settle() && m_window.message().isEmpty();
    }
};

} // namespace

TEST_F(Tree, PinsByKeyAreConstraintsAndOneUndoStepEach)
{
    open();
    const PlanAnswerPtr first = m_window.session().committed();
    const std::size_t unit = unitNamed("transformer.h.1.mlp.c_fc");
    panel().showUnit(unit);
    ASSERT_TRUE(press(Qt::Key_2));
    EXPECT_EQ(m_window.session().inputs().options.pins, (std::vector<std::string>{"transformer.h.1.mlp.c_fc=zdp"}));
    EXPECT_EQ(m_window.session().history().done(), 1U);
    EXPECT_EQ(plan().cost(unit).strategy.group, plan().table.setup.cluster.ranks());
    EXPECT_TRUE(plan().cost(unit).strategy.reshardAfterForward);
    const OperatorTreeModel& tree = *panel().model();
    EXPECT_EQ(tree.data(tree.indexOfUnit(unit), OperatorTreeModel::PinRole).toString(), QStringLiteral("zdp"));
    EXPECT_EQ(tree.data(tree.indexOfUnit(unit).parent(), OperatorTreeModel::PinRole).toString(), QStringLiteral("1 of them"));
    const auto saved = readRequestOptions(requestOptionsJson(m_window.session().inputs().options, Bytes(1)), "test");
    ASSERT_TRUE(saved.ok());
    EXPECT_EQ(saved->options.pins, m_window.session().inputs().options.pins);
    ASSERT_TRUE(press(Qt::Key_1)); // takes its place
    EXPECT_EQ(m_window.session().inputs().options.pins, (std::vector<std::string>{"transformer.h.1.mlp.c_fc=dp"}));
    EXPECT_TRUE(plan().cost(unit).strategy.replicated());
    ASSERT_TRUE(press(Qt::Key_3));
    EXPECT_GT(plan().cost(unit).strategy.slices, 1);
    ASSERT_TRUE(press(Qt::Key_0));
    EXPECT_TRUE(m_window.session().inputs().options.pins.empty());
    EXPECT_EQ(m_window.session().history().done(), 4U);
    while (m_window.session().history().canUndo()) {
        m_window.actions().undo->trigger();
        ASSERT_TRUE(settle());
    }
    EXPECT_TRUE(m_window.session().committed()->inputs == first->inputs);
    EXPECT_EQ(plan().choice, first->outcome->plan->choice);
}

TEST_F(Tree, ABlockIsPinnedFromTheMenuAndOneOfItFreed)
{
    open();
    const std::size_t unit = unitNamed("transformer.h.2.mlp.c_fc");
    const QModelIndex leaf = panel().model()->indexOfUnit(unit);
    panel().showUnit(unit);
    const QModelIndex shown = panel().view()->currentIndex();
    panel().view()->setCurrentIndex(shown.parent()); // the kind over all blocks
    const auto menu = panel().pinMenu();
    ASSERT_FALSE(menu->isEmpty());
    EXPECT_TRUE(menu->actions().first()->text().startsWith(QStringLiteral("Pin replicated")));
    menu->actions().first()->trigger();
    ASSERT_TRUE(settle());
    EXPECT_EQ(m_window.session().inputs().options.pins, (std::vector<std::string>{"transformer.h.*.mlp.c_fc=dp"}));
    for (int block = 0; block < 4; ++block)
        EXPECT_TRUE(plan().cost(unitNamed("transformer.h." + std::to_string(block) + ".mlp.c_fc")).strategy.replicated());
    panel().showUnit(unit);
    ASSERT_TRUE(press(Qt::Key_0));
    EXPECT_EQ(m_window.session().inputs().options.pins.size(), 3U);
    EXPECT_EQ(panel().model()->data(leaf, OperatorTreeModel::PinRole).toString(), QString());
    panel().field()->setText(QStringLiteral("is:pinned"));
    EXPECT_EQ(leaves(), 3);
}

TEST_F(Tree, TheFilterSpeaksItsLanguage)
{
    open();
    const auto shows = [&](const QString& words) {
        panel().field()->setText(words);
        EXPECT_EQ(panel().problem().toStdString(), "") << words.toStdString();
        return leaves();
    };
    const int all = static_cast<int>(plan().table.units.size());
    EXPECT_EQ(shows({}), all);
    EXPECT_EQ(shows(QStringLiteral("MLP.c_fc")), 4);
    EXPECT_EQ(shows(QStringLiteral("/h\\.[01]\\.mlp\\.c_(fc|proj)$/")), 4);
    EXPECT_EQ(shows(QStringLiteral("mlp.c_fc -/h\\.3/")), 3);
    int wide = 0;
    int heavy = 0;
    for (std::size_t unit = 0; unit < plan().table.units.size(); ++unit) {
        const OptionCost& cost = plan().cost(unit);
        heavy += (cost.states() + cost.saved).count() > (1 << 20) ? 1 : 0;
        wide += plan().table.units[unit].parameters >= 10'000 && cost.serial().value() > 1e-6 ? 1 : 0;
    }
    EXPECT_EQ(shows(QStringLiteral("mem>1MiB")), heavy);
    EXPECT_EQ(shows(QStringLiteral("params>=10k time>1us")), wide);
    EXPECT_EQ(shows(QStringLiteral("split>1")) + shows(QStringLiteral("split<=1")), all);
    for (const QString& bad :
         {QStringLiteral("mem>much"), QStringLiteral("weight>1"), QStringLiteral("/(/"), QStringLiteral("time>3GiB")}) {
        panel().field()->setText(bad);
        EXPECT_TRUE(panel().problem().contains(bad)) << bad.toStdString();
    }
}

TEST(Filter, HalfATermIsAnErrorAndOddTextIsText)
{
    EXPECT_FALSE(OperatorFilter::read(QStringLiteral("split>")).ok());
    EXPECT_TRUE(OperatorFilter::read(QStringLiteral("a/b c")).ok());
    EXPECT_TRUE(OperatorFilter::read(QStringLiteral("-")).ok());
}
