// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/strategy.hpp"
#include "profiler/train/trainer.hpp"

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace loadline::test {

/// What is asked of one training in a test.
struct Question {
    std::string model = "gpt2.json"; ///< in tests/data/train
    int ranks = 4;
    int nodes = 1;             ///< that the ranks are spread over
    bool hierarchical = false; ///< two-phase collectives
    std::int64_t sequence = 8;
    std::int64_t batch = 1;
    std::int64_t accumulation = 1;
    std::string precision = "fp32";
    std::string optimizer = "adamw";
    UnitKind unit = UnitKind::Operator;
    std::int64_t recomputedBlocks = 0;
    std::vector<int> granularities{1, 3, 4};
    std::vector<std::int64_t> groups; ///< empty: all divisors
    std::string freeze;               ///< pattern of parameters that are not trained
    std::string lora;                 ///< as --lora; all other parameters are frozen
    double dropout = 0;
    std::string data = "random";
    double clip = 0;
    double learningRate = 1e-3;
    std::int64_t steps = 4;
};

CostTable tableOf(const Question& question);

/// For each unit the first option of this kind, or its only one; `pick` sees every option.
Choice chooseBy(const CostTable& table, const std::function<bool(const Strategy&)>& pick);
Choice randomChoice(const CostTable& table, std::mt19937& random);

/// What came out of a training on all ranks.
struct Outcome {
    std::vector<double> losses;                        ///< mean over ranks, one a step
    std::vector<at::Tensor> weights;                   ///< whole, in the order of the model's parameters
    std::vector<std::vector<WorkerStep>> steps;        ///< [rank][step]
    std::vector<std::vector<TimelineEvent>> timelines; ///< [rank], of the last step
    std::vector<CategoryBytes> alive;                  ///< [rank], after the last step
    std::vector<UnitSeconds> units;                    ///< rank 0
};

TrainingOptions optionsOf(const Question& question);

Outcome train(const CostTable& table, const Choice& choice, const Question& question);
/// One process on the same global batches.
Outcome trainUnsharded(const CostTable& table, const Question& question);

/// Losses and weights agree within the tolerance that docs/verification.md derives.
void expectEqual(const Outcome& got, const Outcome& wanted, const Question& question, double tolerance, const std::string& what);

} // namespace loadline::test
