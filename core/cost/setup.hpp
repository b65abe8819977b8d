// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"
#include "core/cluster/cluster.hpp"
#include "core/cluster/recipe.hpp"
#include "core/cost/footprint.hpp"
#include "core/cost/rules.hpp"
#include "core/model/description.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace loadline {

class Profile; // core/cost/profile.hpp

/// What is planned as one: each operator, each part (attention, MLP) of a block, or each block.
enum class UnitKind { Operator, Part, Block };
/// What of a recomputed block is computed again: all of it, its attention (cross-attention too), or its MLP.
enum class RecomputedPart { Block, Attention, Mlp };
enum class MemoryMode { Timeline, Paper };
enum class TimeMode { Serial, Overlap };

/// Everything but the budget and the pins: what is trained, where, and how.
struct Setup {
    std::shared_ptr<const Model> model;
    Cluster cluster;
    PrecisionRecipe precision;
    OptimizerRecipe optimizer;
    RuntimeRules rules;
    std::int64_t sequence = 1;
    std::int64_t batch = 1;        ///< sequences per GPU and micro-step
    std::int64_t accumulation = 1; ///< micro-steps per optimizer step
    AttentionKind attention = AttentionKind::Auto;
    std::optional<double> dropout; ///< empty: the model's own
    UnitKind unit = UnitKind::Operator;
    std::vector<int> granularities{1, 2, 4, 8};            ///< g to offer for operators that can be split
    std::vector<std::int64_t> groups;                      ///< d to offer; empty: 1, GPUs per node, all ranks
    std::int64_t recomputedBlocks = 0;                     ///< the first so many blocks are recomputed
    RecomputedPart recomputedPart = RecomputedPart::Block; ///< of each of them
    std::optional<Bytes> overhead;                         ///< empty: the device's own
    bool shardExpertsOnDim1 = true; ///< fsdp2: Shard(1) for experts where there are more ranks than experts (truth: false)
    MemoryMode memory = MemoryMode::Timeline;
    TimeMode time = TimeMode::Serial;
    std::shared_ptr<const Profile> profile; ///< empty: compute times are estimated
};

} // namespace loadline
