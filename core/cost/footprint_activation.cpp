// SPDX-License-Identifier: GPL-3.0-or-later
// Nonlinearities, the loss, and operators described by hand. docs/activations.md, "MLP", "Head and loss".
#include "core/cost/footprint_forms.hpp"

namespace loadline::forms {

namespace {

/// What one nonlinearity keeps, in bytes per feature, what the linear after it reads included; `passes` counts tensors
/// moved through memory.
struct ActivationBytes {
    double saved = 0;
    double passes = 0;
    bool gated = false;
};

/// `w` is the element size of matrix products.
ActivationBytes activationBytes(ActivationKind kind, double w, bool autocast)
{
    switch (kind) {
    case ActivationKind::Relu: // its output, which the linear reads too
    case ActivationKind::Tanh:
        return {w, 2, false};
    case ActivationKind::Gelu: // one kernel: input and output
    case ActivationKind::GeluTanh:
    case ActivationKind::Silu:
        return {2 * w, 2, false};
    case ActivationKind::QuickGelu: // x, sigmoid(1.702 x), product
        return {3 * w, 7, false};
    case ActivationKind::GeluNew: // in Python: x, tanh, 1 + tanh, x / 2, product; autocast's pow makes the first three fp32
        return {autocast ? 4.0 + 4 + 4 + 2 + 2 : 5 * w, 16, false};
    case ActivationKind::GatedSilu: // gate, up, activated gate, product
    case ActivationKind::GatedGelu:
    case ActivationKind::GatedGeluTanh:
        return {4 * w, 5, true};
    case ActivationKind::GatedGeluNew: // GeluNew's own four, up, activated gate, product
        return {autocast ? 4.0 + 4 + 4 + 2 + 2 + 4 + 2 : 7 * w, 19, true};
    case ActivationKind::GatedClampedSilu: // GPT-OSS: gate and up, clamped both, sigmoid, two products
        return {7 * w, 15, true};
    }
    return {};
}

} // namespace

Form activationForm(const ActivationTraits& traits, const Scene& scene)
{
    const double elements = scene.tokens() * static_cast<double>(traits.width);
    const double w = scene.matmul();
    const ActivationBytes bytes = activationBytes(traits.activation, w, scene.autocast());

    Form form;
    form.saved = elements * bytes.saved;
    const bool outputNeeded = traits.activation == ActivationKind::Relu || traits.activation == ActivationKind::Tanh; // by its own backward
    if (!outputNeeded) {
        form.saved -= elements * w;
        form.readerSaved = traits.outputRead ? elements * w : 0;
    }
    form.input = elements * w * (bytes.gated ? 2 : 1);
    form.output = elements * w;
    form.backwardWorkspace = form.input + form.output;
    form.forwardFlops = 8 * elements;
    form.backwardFlops = 2 * form.forwardFlops;
    form.forwardTraffic = elements * w * bytes.passes;
    return form;
}

Form lossForm(const LossTraits& traits, const Scene& scene)
{
    // Classification looks at one row a sequence, language modelling at one a token.
    const double rows = traits.loss == LossKind::Classification ? scene.batch : scene.tokens();
    const double logits = rows * static_cast<double>(traits.classes);
    const double w = scene.matmul();
    const bool upcast = traits.upcasts || (traits.fp32Logits && scene.autocast());

    Form form;
    form.input = logits * w;
    form.output = 4;
    form.saved = rows * 8 + (upcast || !scene.half() ? 4 : 2); // labels, and the count of those that matter in the losses' type
    if (upcast)
        form.saved += 4 * logits; // log-softmax in fp32; the logits themselves go
    else
        form.saved += logits * (scene.autocast() ? 6 : w); // autocast: bf16 log-softmax and its fp32 copy
    if (traits.softCap > 0)
        form.saved += logits * w; // tanh's output
    form.forwardWorkspace = logits * (scene.mode == ComputeMode::Fp32 || !upcast ? w : w + 4);
    form.backwardWorkspace = logits * (upcast || scene.autocast() ? 8 : 2 * w);
    form.forwardFlops = 5 * logits;
    form.backwardFlops = 2 * form.forwardFlops;
    form.forwardTraffic = logits * (w + (upcast ? 4.0 + 8 : 2 * w));
    return form;
}

Form customForm(const CustomTraits& traits, const Scene& scene)
{
    const double tokens = scene.tokens();
    const double squared = tokens * scene.sequence;
    Form form;
    form.saved = traits.savedPerToken * tokens + traits.savedPerTokenSquared * squared;
    form.input = traits.inputPerToken * tokens;
    form.output = form.input;
    form.backwardWorkspace = form.input + form.output;
    form.forwardFlops = traits.flopsPerToken * tokens + traits.flopsPerTokenSquared * squared;
    form.backwardFlops = (scene.trainable ? 2 : 1) * form.forwardFlops;
    form.forwardTraffic = form.input + form.output + form.saved;
    return form;
}

} // namespace loadline::forms
