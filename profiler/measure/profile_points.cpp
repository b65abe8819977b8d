// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/measure/profile.hpp"

#include "profiler/measure/sample.hpp"
#include "profiler/train/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace loadline {
namespace {

/// First operators of each key, in the order of the model.
std::vector<std::size_t> distinctOperators(const Model& model)
{
    std::vector<std::size_t> distinct;
    std::set<std::string> known;
    for (std::size_t op = 0; op < model.operators.size(); ++op) {
        const auto key = operatorKey(model.operators[op]);
        if (!key.empty() && Sample::canRun(model, op, 1) && known.insert(key).second)
            distinct.push_back(op);
    }
    return distinct;
}

std::optional<ComputeMode> modeOf(const std::string& name)
{
    for (const auto mode : {ComputeMode::Fp32, ComputeMode::Bf16, ComputeMode::Fp16, ComputeMode::AutocastBf16})
        if (name == computeModeName(mode))
            return mode;
    return std::nullopt;
}

/// Most tokens of a sequence that every table of positions holds; 0: any number.
std::int64_t mostTokens(const Model& model)
{
    std::int64_t most = 0;
    for (const Operator& op : model.operators) {
        const auto* embedding = std::get_if<EmbeddingTraits>(&op.traits);
        if (embedding != nullptr && embedding->positions && !embedding->bufferIndices)
            most = most == 0 ? embedding->rows : std::min(most, embedding->rows);
    }
    return most;
}

} // namespace

Result<std::vector<ProfilePoint>> profilePoints(const ProfileRequest& request, bool onGpu)
{
    std::vector<ComputeMode> modes;
    for (const auto& name : request.precisions) {
        const auto mode = modeOf(name);
        if (!mode || *mode == ComputeMode::AutocastBf16 || (*mode == ComputeMode::Fp16 && !onGpu))
            return invalidInput(
                fmt::format("precision {} cannot be measured on this device; ask for fp32 or bf16{}", name, onGpu ? " or fp16" : ""));
        modes.push_back(*mode);
    }
    const auto recipe = loadOptimizer(request.optimizer);
    if (!recipe)
        return recipe.error();
    if (const auto optimizer = Optimizer::make(*recipe, 0); !optimizer)
        return optimizer.error();
    const auto positions = mostTokens(request.model);
    for (const auto sequence : request.sequences)
        if (positions > 0 && sequence > positions)
            return invalidInput(fmt::format("sequences of {} tokens were asked for, but model {} has {} positions; ask for fewer", sequence,
                                            request.model.name, positions));
    const auto distinct = distinctOperators(request.model);
    if (distinct.empty())
        return invalidInput(fmt::format("model {} has no operator that can be measured here; it stays estimated", request.model.name));

    auto batches = request.batches;
    std::sort(batches.begin(), batches.end());
    auto granularities = request.granularities;
    granularities.push_back(1);
    std::sort(granularities.begin(), granularities.end());
    granularities.erase(std::unique(granularities.begin(), granularities.end()), granularities.end());
    std::vector<ProfilePoint> points;
    for (const auto batch : batches)
        for (const auto mode : modes)
            for (const auto sequence : request.sequences)
                for (const int slices : granularities)
                    for (const auto op : distinct)
                        if (Sample::canRun(request.model, op, slices))
                            points.push_back({op, mode, batch, sequence, slices});
    return points;
}

} // namespace loadline
