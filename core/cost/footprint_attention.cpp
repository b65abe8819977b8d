// SPDX-License-Identifier: GPL-3.0-or-later
// Attention between its projections. docs/activations.md, "Attention", has the tensors behind every form.
#include "core/cost/footprint_forms.hpp"

#include <algorithm>

namespace loadline::forms {

namespace {

/// Feature counts of one token.
struct Widths {
    double query = 0;
    double key = 0;
    double value = 0;  ///< of all KV heads
    double output = 0; ///< of all query heads
};

Widths widthsOf(const AttentionTraits& traits)
{
    const double heads = static_cast<double>(traits.heads);
    const double kvHeads = static_cast<double>(traits.kvHeads);
    return {heads * static_cast<double>(traits.headDim), kvHeads * static_cast<double>(traits.headDim),
            kvHeads * static_cast<double>(traits.valueDim), heads * static_cast<double>(traits.valueDim)};
}

bool latent(const AttentionTraits& traits)
{
    return traits.valueDim != traits.headDim;
}

/// The storage that the saved value tensor keeps alive: a view of a fused projection keeps all of it.
double valueStorage(const AttentionTraits& traits, const Widths& widths)
{
    if (latent(traits)) // kv_b_proj makes the unrotated key part and the value in one
        return static_cast<double>(traits.kvHeads) * static_cast<double>(traits.headDim - traits.rotaryDim + traits.valueDim);
    if (traits.fusedQkv && traits.rotaryDim > 0) // query and key were copied by the rotation, the value was not
        return widths.query + widths.key + widths.value;
    return widths.value;
}

bool windowed(const AttentionTraits& traits, const Scene& scene)
{
    return traits.window > 0 && scene.keys > static_cast<double>(traits.window);
}

/// Additive masks and biases that a fused kernel keeps; a causal kernel needs none.
double maskBytes(const AttentionTraits& traits, const Scene& scene)
{
    const double one = scene.sequence * scene.keys;
    if (traits.positionBias && traits.cross)
        return 0;            // T5's zeros, one tensor for all layers
    if (traits.positionBias) // one for the batch, all heads; a decoder's also keeps which entries its mask let through
        return one * (static_cast<double>(traits.heads) * scene.matmul() + (traits.causal ? 1 : 0));
    if (traits.masked || windowed(traits, scene))
        return scene.batch * one * scene.matmul();
    return 0;
}

/// Flash and memory-efficient kernels keep query, key, value, output and one fp32 log-sum-exp a row.
double fusedKernelBytes(const AttentionTraits& traits, const Scene& scene)
{
    const Widths widths = widthsOf(traits);
    const double w = scene.matmul();
    const double queries = scene.tokens();
    const double keys = scene.batch * scene.keys;
    const double heads = static_cast<double>(traits.heads);
    double bytes = queries * (widths.query + widths.output) * w + 4 * heads * queries;
    if (traits.expandsKv)
        bytes += keys * (heads * static_cast<double>(traits.headDim) + widths.output) * w;
    else
        bytes += keys * (widths.key + valueStorage(traits, widths)) * w;
    return bytes + maskBytes(traits, scene);
}

/// Plain matrix products and a softmax: everything head by head, keys and values expanded to all heads.
double explicitBytes(const AttentionTraits& traits, const Scene& scene, AttentionKind kind)
{
    const Widths widths = widthsOf(traits);
    const bool math = kind == AttentionKind::Math;
    const double w = math ? 4 : scene.matmul(); // math computes in fp32 whatever the inputs are
    const double heads = static_cast<double>(traits.heads);
    const double queries = scene.tokens();
    const double keys = scene.batch * scene.keys;
    const double scores = heads * queries * scene.keys;
    const bool shared = traits.kvHeads == 1 && scene.batch == 1 && (!math || traits.broadcastsKv); // stays a view
    // Under autocast rotated keys are fp32, and the cast for the product writes out all heads.
    const bool keyCast = !math && scene.autocast() && traits.rotaryDim > 0 && !traits.broadcastsKv;
    const double keyWidth = shared && !keyCast ? widths.key : heads * static_cast<double>(traits.headDim);
    double valueWidth = shared ? widths.value : heads * static_cast<double>(traits.valueDim);
    if (scene.batch == 1 && !math && traits.kvHeads == traits.heads)
        valueWidth = std::max(valueWidth, valueStorage(traits, widths));

    const bool upcast = !math && (scene.autocast() || (scene.half() && traits.softmaxInFp32));
    const double softmax = math || upcast ? 4 : w;
    double perScore = softmax;
    if (!math && scene.probability(traits.dropout) > 0)
        perScore += 1 + w; // mask, and what the second product reads
    else if (upcast)
        perScore += 2;                                                         // the copy that the second product reads
    const double score = !math && traits.scoresInFp32 && scene.half() ? 4 : w; // of queries and keys
    double bytes = (queries * widths.query + keys * keyWidth) * score + keys * valueWidth * w;
    if (!math && scene.sinks) // one more column of scores a row, and the place of each row's maximum
        bytes += heads * queries * (perScore + 8);
    if (traits.softCap > 0)
        bytes += scores * w; // tanh's output
    return bytes + scores * perScore;
}

} // namespace

Form attentionForm(const AttentionTraits& traits, const Scene& scene, AttentionKind kind)
{
    const Widths widths = widthsOf(traits);
    const double heads = static_cast<double>(traits.heads);
    const double w = scene.matmul();
    const double queries = scene.tokens();
    const double keys = scene.batch * scene.keys;
    const bool fused = kind == AttentionKind::Flash || kind == AttentionKind::Efficient;
    const double scores = heads * queries * scene.keys;

    Form form;
    form.saved = fused ? fusedKernelBytes(traits, scene) : explicitBytes(traits, scene, kind);
    // Flash's output follows the query's layout: written out head by head, the next linear reads a copy, as with explicit scores.
    const bool rebuilt = traits.headMajor || (traits.rotary == AttentionTraits::Rotary::Concatenated && traits.rotaryDim > 0);
    if (!fused || (kind == AttentionKind::Flash && rebuilt))
        form.readerSaved = queries * widths.output * w;
    if (traits.rotary == AttentionTraits::Rotary::PerLayer && traits.rotaryDim > 0) // sine and cosine, of queries and of keys
        form.saved += 4 * scene.sequence * static_cast<double>(traits.rotaryDim) * scene.residual();
    form.input = (queries * widths.query + keys * (widths.key + widths.value)) * w;
    form.output = queries * widths.output * w;
    form.forwardWorkspace = fused ? 0 : scores * (scene.mode == ComputeMode::Fp32 ? 4 : 6);
    // Explicit scores: at the softmax's backward two score matrices are alive, the gradients of q, k and v not yet.
    const double score = kind == AttentionKind::Math || scene.autocast() || traits.softmaxInFp32 ? 4 : w;
    form.backwardWorkspace = form.input + form.output;
    if (!fused)
        form.backwardWorkspace = std::max(form.backwardWorkspace, form.output + 2 * scores * score);
    // Two products; a causal flash kernel skips the half that the mask hides.
    const double halved = fused && traits.causal && !traits.cross ? 0.5 : 1;
    const double dims = static_cast<double>(traits.headDim + traits.valueDim);
    form.forwardFlops = 2 * scores * dims * halved;
    form.backwardFlops = (fused ? 2.5 : 2) * form.forwardFlops; // fused kernels compute the scores once more
    form.forwardTraffic = form.input + form.output + (fused ? 0 : scores * (4 * w + 8));
    return form;
}

} // namespace loadline::forms
