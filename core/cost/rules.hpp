// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace loadline {

/// What a runtime keeps alive and when: data, so that another runtime is another table row.
/// Sources: `loadline` our own workers; `fsdp2` PyTorch 2.11 as measured; `osdp-release` the authors' code.
/// What each field does to the timeline: docs/memory-model.md.
struct RuntimeRules {
    std::string name;
    int gatherAheadForward = 0;  ///< units gathered before they are needed, in forward
    int gatherAheadBackward = 0; ///< likewise in backward
    int gatherBuffers = 1;  ///< full-size buffers while a unit is gathered: 2 = collective's output and the parameters copied out of it
    int scatterBuffers = 1; ///< full-size gradient buffers while a unit is reduced, beyond the gradient itself
    bool forwardKeepsBuffer = false;      ///< in forward the collective's output stays until the next unit is gathered
    bool reductionOverlapsNext = false;   ///< what is reduced stays alive while the next unit's backward runs
    bool padsDimension0 = false;          ///< shards are whole rows of dimension 0 (FSDP2); else of the flat buffer
    bool replicatedCopies = false;        ///< a replicated unit makes a working copy as a gather does (FSDP2's mesh (N,1))
    bool replicatedGradientsStay = false; ///< gradients of replicated units are one preset flat buffer, alive all the step
    bool gradientsStay = false;           ///< reduced gradients are never dropped between steps
    bool embeddingsSkipBackward = false;  ///< an embedding is not gathered for its backward, which does not read it
    bool rootStaysGathered = false;       ///< operators outside blocks are one unit that is kept from forward to the end of backward
    bool keepsAveraged = false;           ///< what replicas averaged in another type stays beside its conversion to the end of backward
    bool recomputeKeepsGathered = false;  ///< all units of a recomputed region stay gathered together; no third gather
    bool stepsInPieces = false;           ///< the optimizer takes no temporary of the size of its parameters
    bool replicatedIsRootUnit = false;    ///< osdp-release: "DP" is gathered once, reduce-scattered, and its optimizer is sharded
    friend bool operator==(const RuntimeRules&, const RuntimeRules&) = default;
};

RuntimeRules loadlineRules();
RuntimeRules fsdp2Rules();
RuntimeRules osdpReleaseRules();

} // namespace loadline
