// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"
#include "core/cluster/recipe.hpp"
#include "core/model/description.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace loadline {

enum class AttentionKind { Auto, Flash, Efficient, Math, Eager };

/// What decides the bytes that a forward pass saves.
struct ActivationSettings {
    std::int64_t batch = 1;    ///< sequences per GPU and micro-step
    std::int64_t sequence = 1; ///< tokens per sequence
    ComputeMode compute = ComputeMode::Fp32;
    AttentionKind attention = AttentionKind::Auto;
    std::optional<double> dropout; ///< empty: as the model's configuration says
};

/// What one operator saves, needs while it runs, and computes; for one micro-step on one rank, unsharded.
struct Footprint {
    Bytes saved;             ///< from forward to backward; a tensor that several operators save counts at the first
    Bytes weightCasts;       ///< autocast's bf16 copies of weights and raw input, alive from forward to backward; not in `saved`
    Bytes input;             ///< the tensor it reads: all that a recomputed region keeps, at its first operator
    Bytes output;            ///< the tensor it writes
    Bytes forwardWorkspace;  ///< beyond saved and output, alive only while its forward runs
    Bytes backwardWorkspace; ///< beyond what is saved, alive only while its backward runs (input and output gradients)
    double forwardFlops = 0;
    double backwardFlops = 0;
    Bytes forwardTraffic; ///< device memory read and written in forward; backward moves twice that
};

/// One entry per operator of `model`. Source of every form: PyTorch itself, see docs/activations.md.
std::vector<Footprint> footprints(const Model& model, const ActivationSettings& settings);

/// Saved bytes by the place that saves them first, as `inspect --json` prints them and as PyTorch's own rows are cut.
struct SavedByPlace {
    Bytes embedding;
    std::vector<Bytes> layers; ///< by execution index, encoder first
    Bytes between;
    Bytes finalNorm;
    Bytes head;
    Bytes loss;
    Bytes weightCasts; ///< autocast's bf16 weight copies of the whole model; not in `total`
    Bytes total;
};

/// Sums `footprints(model, ...)` by place. `prints` has one entry per operator. Sums saturate at kMostBytes.
SavedByPlace savedByPlace(const Model& model, const std::vector<Footprint>& prints);

/// No figure of a Footprint exceeds this, however absurd the batch: figures are computed in doubles and clamped here.
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 62;

/// The kernel that scaled_dot_product_attention takes for this operator when `settings.attention` is Auto.
AttentionKind chosenAttention(const AttentionTraits& traits, const ActivationSettings& settings);

} // namespace loadline
