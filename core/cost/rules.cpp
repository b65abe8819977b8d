// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/rules.hpp"

namespace loadline {

/// Our own workers (docs/sources.md, libtorch workers): one flat buffer per unit that the parameters are views of, so a gather needs no
/// second copy and gradients land in the buffer that is reduced; one unit is gathered ahead in both directions; a reduction runs beside the
/// next unit's backward; replicated gradients are views of one flat buffer made at the start.
RuntimeRules loadlineRules()
{
    RuntimeRules rules;
    rules.name = "loadline";
    rules.gatherAheadForward = 1;
    rules.gatherAheadBackward = 1;
    rules.gatherBuffers = 1;
    rules.scatterBuffers = 0;
    rules.reductionOverlapsNext = true;
    rules.replicatedGradientsStay = true;
    rules.embeddingsSkipBackward = true;
    rules.stepsInPieces = true;
    return rules;
}

/// PyTorch 2.11 FSDP2, measured (docs/sources.md, FSDP2 2.11, and the tracker's peaks that tests/core/cost/fsdp_peak_test.cpp replays).
RuntimeRules fsdp2Rules()
{
    RuntimeRules rules;
    rules.name = "fsdp2";
    rules.gatherAheadForward = 0;
    rules.gatherAheadBackward = 1;
    rules.gatherBuffers = 2;
    rules.scatterBuffers = 1;
    rules.forwardKeepsBuffer = true;
    rules.reductionOverlapsNext = true;
    rules.padsDimension0 = true;
    rules.replicatedCopies = true;
    rules.rootStaysGathered = true;
    rules.keepsAveraged = true; // FSDPParamGroup._all_reduce_state, until finalize_backward
    rules.recomputeKeepsGathered = true;
    return rules;
}

/// The authors' release on FairScale 0.4 (docs/sources.md, OSDP): nested units without prefetch, a root unit for all that is "DP", a
/// flattened gradient beside the views at the reduction, and gradients that are never set to nothing.
RuntimeRules osdpReleaseRules()
{
    RuntimeRules rules;
    rules.name = "osdp-release";
    rules.gatherBuffers = 1;
    rules.scatterBuffers = 1;
    rules.gradientsStay = true;
    rules.replicatedIsRootUnit = true;
    return rules;
}

} // namespace loadline
