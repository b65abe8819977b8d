// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/candidates.hpp"

#include <fmt/format.h>

namespace loadline {
namespace {

/// Beyond this no GPU holds a sequence's activations, and products of counts could overflow.
constexpr std::int64_t kMostCount = 1'000'000;

std::optional<Error> fault(const PlanRequest& request)
{
    const Setup& setup = request.setup;
    if (!setup.model)
        return invalidInput("There is no model to plan; name one with --model.");
    if (request.budget < Bytes())
        return invalidInput("--budget must not be negative.");
    if (!request.chooseBatch && (setup.batch < 1 || setup.batch > kMostCount))
        return invalidInput(fmt::format("--batch {}: take a whole number from 1 to {}, or auto.", setup.batch, kMostCount));
    if (!request.chooseAccumulation && (setup.accumulation < 1 || setup.accumulation > kMostCount))
        return invalidInput(fmt::format("--accumulation {}: take a whole number from 1 to {}, or auto.", setup.accumulation, kMostCount));
    if (request.chooseBatch && (request.mostBatch < 1 || request.mostBatch > kMostCount))
        return invalidInput(fmt::format("The largest batch to try must be from 1 to {}, not {}.", kMostCount, request.mostBatch));
    if (request.globalBatch < 0)
        return invalidInput(fmt::format("--global-batch {}: take a whole number from 1 on.", request.globalBatch));
    if (request.chooseAccumulation && request.globalBatch == 0)
        return invalidInput("--accumulation auto needs --global-batch: more micro-steps per optimizer step always look faster.");
    const std::int64_t ranks = setup.cluster.ranks();
    if (ranks < 1)
        return invalidInput("The cluster has no GPU; give at least one node with one GPU.");
    if (request.globalBatch % ranks != 0)
        return invalidInput(
            fmt::format("--global-batch {}: {} ranks cannot share it evenly; take a multiple of {}.", request.globalBatch, ranks, ranks));
    return std::nullopt;
}

/// Whether one rank's share of the global batch is `batch` x `accumulation`; without a global batch any is.
bool fitsGlobalBatch(const PlanRequest& request, std::int64_t batch, std::int64_t accumulation)
{
    return request.globalBatch == 0 || batch * accumulation * request.setup.cluster.ranks() == request.globalBatch;
}

} // namespace

Result<std::vector<Candidate>> candidatesOf(const PlanRequest& request)
{
    if (auto error = fault(request))
        return *std::move(error);
    const Setup& setup = request.setup;
    const std::int64_t blocks = setup.model->layerCount();
    Candidate open;
    open.fewestRecomputed = open.mostRecomputed = setup.recomputedBlocks;
    open.part = request.recompute == Recompute::Off ? setup.recomputedPart : RecomputedPart::Block;
    const std::vector<RecomputedPart> parts =
        request.recompute == Recompute::Auto && blocks > 0 ? request.recomputedParts : std::vector{open.part};
    if (parts.empty())
        return invalidInput("Nothing of a block may be recomputed; ask for whole blocks, attention or MLP, or for --recompute off.");
    if (request.recompute == Recompute::All)
        open.fewestRecomputed = open.mostRecomputed = blocks;
    if (request.recompute == Recompute::Auto) {
        open.fewestRecomputed = 0;
        open.mostRecomputed = blocks;
    }
    const std::int64_t share = request.globalBatch / setup.cluster.ranks();
    std::vector<Candidate> candidates;
    const std::int64_t first = request.chooseBatch ? 1 : setup.batch;
    const std::int64_t last = request.chooseBatch ? request.mostBatch : setup.batch;
    for (std::int64_t batch = first; batch <= last; ++batch) {
        open.batch = batch;
        open.accumulation = setup.accumulation;
        if (request.chooseAccumulation)
            open.accumulation = share / batch;
        if (open.accumulation < 1 || !fitsGlobalBatch(request, batch, open.accumulation))
            continue;
        for (const RecomputedPart part : parts) {
            Candidate candidate = open;
            candidate.part = part;
            // No block at all is the same whatever the part: only the first one has it.
            if (part != parts.front())
                candidate.fewestRecomputed = 1;
            candidates.push_back(candidate);
        }
    }
    if (candidates.empty())
        return invalidInput(
            fmt::format("--global-batch {}: no batch x accumulation x {} ranks gives it; set --batch or --accumulation to auto.",
                        request.globalBatch, setup.cluster.ranks()));
    return candidates;
}

Setup setupOf(const Setup& setup, const Candidate& candidate, std::int64_t recomputed)
{
    Setup changed = setup;
    changed.batch = candidate.batch;
    changed.accumulation = candidate.accumulation;
    changed.recomputedBlocks = recomputed;
    changed.recomputedPart = candidate.part;
    return changed;
}

} // namespace loadline
