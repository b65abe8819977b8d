// SPDX-License-Identifier: GPL-3.0-or-later
// Norms and the ends of a model that are only look-ups. Source of the forms: docs/activations.md, "Norms".
#include "core/cost/footprint_forms.hpp"

namespace loadline::forms {

namespace {

constexpr double kIndex = 8; ///< an int64

/// Bytes per feature that the norm itself keeps, its output apart, and bytes per row of statistics.
struct NormBytes {
    double perFeature = 0;
    double perRow = 0;
    double constant = 0; ///< per feature, whatever the tokens: Gemma's 1 + weight
};

/// `input` is the element size of what the norm reads.
NormBytes normBytes(NormKind kind, double input)
{
    switch (kind) {
    case NormKind::Layer: // input; mean and reciprocal deviation in fp32
        return {input, 8, 0};
    case NormKind::Rms: // fp32 copy (the input itself in fp32), the normalised tensor in the input's type; rsqrt
        return {4 + input, 4, 0};
    case NormKind::GemmaRms: // both in fp32, and 1 + weight
        return {8, 4, 4};
    case NormKind::GptOssRms:
        return {8, 4, 0};
    case NormKind::T5Rms: // as Rms, and the input beside its fp32 copy, which only the variance reads
        return {input < 4 ? 4 + 2 * input : 8, 4, 0};
    }
    return {};
}

} // namespace

Form normForm(const NormTraits& traits, const Scene& scene)
{
    const double rows = scene.tokens() * static_cast<double>(traits.perToken);
    const double width = static_cast<double>(traits.width);
    const double readers = static_cast<double>(traits.readers);
    const double element = traits.ofProjection ? scene.matmul() : scene.residual();
    NormBytes bytes = normBytes(traits.norm, element);
    if (!scene.trainable && traits.norm != NormKind::Layer) // the normalised tensor is for the scale's gradient
        bytes.perFeature -= traits.norm == NormKind::Rms || traits.norm == NormKind::T5Rms ? element : 4;

    Form form;
    form.saved = rows * (width * bytes.perFeature + bytes.perRow) + width * bytes.constant;
    if (!traits.savesInput) // the same tensor is there already: the input, or its fp32 copy's source
        form.saved -= rows * width * (traits.norm == NormKind::Layer || scene.residual() == 4 ? element : 0);
    if (traits.readers > 0) // autocast: each linear saves its own bf16 copy, and nobody the fp32 original
        form.readerSaved = rows * width * (scene.autocast() && !traits.ofProjection ? 2 * readers : element);
    form.input = rows * width * element;
    form.output = rows * width * element;
    // The Python norms leave fp32 temporaries in backward; LayerNorm is one kernel. Measured: FSDPMemTracker's "Temp".
    if (traits.norm == NormKind::Layer)
        form.backwardWorkspace = form.input + form.output;
    else
        form.backwardWorkspace = rows * (element < 4 ? 20 * width + 8 : 12 * width);
    form.forwardFlops = 6 * rows * width;
    form.backwardFlops = 2 * form.forwardFlops;
    form.forwardTraffic = rows * width * (traits.norm == NormKind::Layer ? 2 * element : 4 * element + 8);
    return form;
}

Form embeddingForm(const EmbeddingTraits& traits, const Scene& scene)
{
    const double rows = traits.positions ? scene.sequence : scene.tokens();
    Form form;
    form.saved = traits.bufferIndices ? 0 : rows * kIndex;
    form.input = rows * kIndex;
    form.output = rows * static_cast<double>(traits.width) * scene.residual();
    form.backwardWorkspace = form.output;
    form.forwardTraffic = 2 * form.output;
    form.backwardFlops = rows * static_cast<double>(traits.width);
    return form;
}

Form dropoutForm(const DropoutTraits& traits, const Scene& scene)
{
    Form form;
    const double elements = scene.tokens() * static_cast<double>(traits.width);
    const double element = scene.matmul();
    form.input = form.output = elements * element;
    if (scene.probability(traits.probability) <= 0)
        return form;
    form.saved = elements;                      // CUDA's mask takes one byte
    if (traits.outputRead && !scene.autocast()) // autocast: the reader makes a copy of its own
        form.saved += elements * element;
    form.backwardWorkspace = 2 * form.output;
    form.forwardFlops = form.backwardFlops = elements;
    form.forwardTraffic = elements * (2 * element + 1);
    return form;
}

} // namespace loadline::forms
