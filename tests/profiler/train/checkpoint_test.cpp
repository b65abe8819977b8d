// SPDX-License-Identifier: GPL-3.0-or-later
#include "training.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace loadline;
using namespace loadline::test;

namespace {

namespace fs = std::filesystem;

class Checkpoint : public ::testing::Test {
protected:
    void SetUp() override
    {
        m_folder = fs::temp_directory_path() / ("loadline-checkpoint-" + std::to_string(::getpid()));
        fs::remove_all(m_folder);
    }
    void TearDown() override { fs::remove_all(m_folder); }

    fs::path m_folder;
};

using Body = std::function<void(Trainer&)>;

void withTrainer(const CostTable& table, const Choice& choice, const Body& body)
{
    const auto run = [&](Communicator* world) {
        TrainingOptions options;
        options.seed = 7;
        auto trainer = Trainer::create(table, choice, world, options);
        if (!trainer)
            throw std::runtime_error(trainer.error().message);
        body(**trainer);
    };
    if (table.setup.cluster.ranks() == 1)
        run(nullptr);
    else
        runThreads(static_cast<int>(table.setup.cluster.ranks()), [&](Communicator& world) { run(&world); });
}

} // namespace

TEST_F(Checkpoint, GoesOnUnderAnotherPlanAndAnotherNumberOfRanks)
{
    // 4 ranks with one sequence each, then 2 ranks with two: the same global batch.
    Question four;
    four.steps = 6;
    const CostTable table = tableOf(four);
    const Choice zdp = chooseBy(table, [](const Strategy& strategy) { return strategy.group == 4; });
    const Outcome whole = train(table, zdp, four);
    withTrainer(table, zdp, [&](Trainer& trainer) {
        for (int step = 0; step < 3; ++step)
            trainer.step();
        const auto saved = trainer.save(m_folder);
        ASSERT_TRUE(saved) << saved.error().message;
    });
    Question two = four;
    two.ranks = 2;
    two.batch = 2;
    const CostTable other = tableOf(two);
    std::mt19937 random(5);
    std::vector<double> losses(3, 0);
    std::mutex mutex;
    withTrainer(other, randomChoice(other, random), [&](Trainer& trainer) {
        const auto resumed = trainer.resume(m_folder);
        ASSERT_TRUE(resumed) << resumed.error().message;
        EXPECT_EQ(trainer.stepsDone(), 3);
        for (double& loss : losses) {
            const double mine = trainer.step().loss;
            const std::lock_guard lock(mutex);
            loss += mine / 2;
        }
    });
    for (std::size_t step = 0; step < 3; ++step)
        EXPECT_NEAR(losses[step], whole.losses[step + 3], 1e-5 * whole.losses[step + 3]);
}

TEST_F(Checkpoint, DamagedOnesAreRefusedInASentence)
{
    Question question;
    question.ranks = 1;
    const CostTable table = tableOf(question);
    const Choice choice(table.units.size(), 0);
    withTrainer(table, choice, [&](Trainer& trainer) {
        EXPECT_FALSE(trainer.resume(m_folder)); // not there
        ASSERT_TRUE(trainer.save(m_folder));
        ASSERT_TRUE(trainer.resume(m_folder));
        fs::resize_file(m_folder / "parameter-00000.f32", 8);
        EXPECT_FALSE(trainer.resume(m_folder));
        std::ofstream(m_folder / "index.json") << "[1, 2";
        const auto refused = trainer.resume(m_folder);
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().message.find("index.json"), std::string::npos);
    });
}
