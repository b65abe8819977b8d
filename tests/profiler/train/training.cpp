// SPDX-License-Identifier: GPL-3.0-or-later
#include "training.hpp"

#include "core/cluster/library.hpp"
#include "core/model/lora.hpp"
#include "core/model/reader.hpp"

#include <ATen/Parallel.h>

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>

namespace loadline::test {

namespace {

Model changed(Model model, const Question& question)
{
    if (!question.lora.empty())
        model = applyLora(std::move(model), question.lora).value();
    if (!question.freeze.empty() && !freeze(model, question.freeze))
        throw std::runtime_error("nothing is frozen");
    return model;
}

} // namespace

CostTable tableOf(const Question& question)
{
    Setup setup;
    const auto model = loadModel(LOADLINE_SOURCE_DIR "/tests/data/train/" + question.model);
    if (!model)
        throw std::runtime_error(model.error().message);
    setup.model = std::make_shared<const Model>(changed(*model, question));
    setup.cluster = bundledClusters().front();
    setup.cluster.nodes = question.nodes;
    setup.cluster.gpusPerNode = question.ranks / question.nodes;
    setup.cluster.hierarchical = question.hierarchical;
    setup.precision = *loadPrecision(question.precision);
    setup.optimizer = *loadOptimizer(question.optimizer);
    setup.rules = loadlineRules();
    setup.sequence = question.sequence;
    setup.batch = question.batch;
    setup.accumulation = question.accumulation;
    setup.dropout = question.dropout;
    setup.attention = AttentionKind::Flash; // what libtorch takes on a CPU
    setup.unit = question.unit;
    setup.recomputedBlocks = question.recomputedBlocks;
    setup.granularities = question.granularities;
    setup.overhead = Bytes(0);
    setup.groups = question.groups;
    if (setup.groups.empty()) {
        for (int d = 1; d <= question.ranks; ++d) {
            if (question.ranks % d == 0)
                setup.groups.push_back(d);
        }
    }
    auto table = buildCostTable(setup);
    if (!table)
        throw std::runtime_error(table.error().message);
    return *std::move(table);
}

Choice chooseBy(const CostTable& table, const std::function<bool(const Strategy&)>& pick)
{
    Choice choice;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        const auto& options = table.options(unit);
        std::uint32_t found = 0;
        for (std::size_t i = 0; i < options.size(); ++i) {
            if (pick(options[i].strategy)) {
                found = static_cast<std::uint32_t>(i);
                break;
            }
        }
        choice.push_back(found);
    }
    return choice;
}

Choice randomChoice(const CostTable& table, std::mt19937& random)
{
    Choice choice;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit)
        choice.push_back(static_cast<std::uint32_t>(random() % table.options(unit).size()));
    return choice;
}

TrainingOptions optionsOf(const Question& question)
{
    TrainingOptions options;
    options.data = question.data;
    options.seed = 7;
    options.clip = question.clip;
    options.learningRate = question.learningRate;
    return options;
}

namespace {

void trainRank(const CostTable& table, const Choice& choice, const Question& question, Communicator* world, Outcome& outcome,
               std::mutex& mutex)
{
    at::set_num_threads(1); // ranks are threads already
    auto created = Trainer::create(table, choice, world, optionsOf(question));
    if (!created)
        throw std::runtime_error(created.error().message);
    Trainer& trainer = **created;
    const auto rank = static_cast<std::size_t>(world ? world->rank() : 0);
    for (std::int64_t step = 0; step < question.steps; ++step)
        outcome.steps[rank].push_back(trainer.step());
    outcome.timelines[rank] = trainer.timeline();
    outcome.alive[rank] = trainer.alive();
    std::vector<at::Tensor> weights;
    for (const Operator& op : table.setup.model->operators)
        for (const Parameter& parameter : op.parameters)
            weights.push_back(trainer.wholeParameter(parameter.name));
    const std::lock_guard lock(mutex);
    if (rank == 0) {
        outcome.weights = weights;
        outcome.units = trainer.unitSeconds();
    }
}

} // namespace

Outcome train(const CostTable& table, const Choice& choice, const Question& question)
{
    const auto ranks = static_cast<std::size_t>(table.setup.cluster.ranks());
    Outcome outcome;
    outcome.steps.resize(ranks);
    outcome.timelines.resize(ranks);
    outcome.alive.resize(ranks);
    std::mutex mutex;
    if (ranks == 1)
        trainRank(table, choice, question, nullptr, outcome, mutex);
    else
        runThreads(static_cast<int>(ranks), [&](Communicator& world) { trainRank(table, choice, question, &world, outcome, mutex); });
    for (std::size_t step = 0; step < outcome.steps.front().size(); ++step) {
        double sum = 0;
        for (const auto& rank : outcome.steps)
            sum += rank[step].loss;
        outcome.losses.push_back(sum / static_cast<double>(ranks));
    }
    return outcome;
}

Outcome trainUnsharded(const CostTable& table, const Question& question)
{
    const auto unsharded = unshardedTable(table);
    if (!unsharded)
        throw std::runtime_error(unsharded.error().message);
    return train(*unsharded, Choice(unsharded->units.size(), 0), question);
}

void expectEqual(const Outcome& got, const Outcome& wanted, const Question& question, double tolerance, const std::string& what)
{
    ASSERT_EQ(got.losses.size(), wanted.losses.size());
    for (std::size_t step = 0; step < got.losses.size(); ++step)
        ASSERT_NEAR(got.losses[step], wanted.losses[step], tolerance * std::abs(wanted.losses[step])) << what << ", step " << step + 1;
    ASSERT_EQ(got.weights.size(), wanted.weights.size());
    for (std::size_t i = 0; i < got.weights.size(); ++i) {
        const double size = std::max(wanted.weights[i].abs().max().item<double>(), 0.1);
        const at::Tensor difference = got.weights[i].sub(wanted.weights[i]).abs();
        // Adam and Lion divide a gradient by its own size: where the true one is 0 (a bias of keys) they follow the noise. A hundredth
        // of one step in the mean is far below what a wrong gradient moves. Others are held to the tolerance in every element.
        if (question.optimizer.starts_with("sgd")) {
            ASSERT_LE(difference.max().item<double>(), tolerance * size) << what << ", parameter " << i;
        } else {
            ASSERT_LE(difference.mean().item<double>(), tolerance * size + question.learningRate / 100) << what << ", parameter " << i;
        }
    }
}

} // namespace loadline::test
