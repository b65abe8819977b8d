// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix products with weights: linears, convolutions, routers and experts. docs/activations.md, "Linears", "Experts".
#include "core/cost/footprint_forms.hpp"

#include <algorithm>

namespace loadline::forms {

Form linearForm(const LinearTraits& traits, const Scene& scene)
{
    const double tokens = scene.tokens();
    const double in = static_cast<double>(traits.in);
    const double out = static_cast<double>(traits.out);
    const double element = scene.matmul();

    Form form;
    if (scene.trainable) { // the input is needed for the weight's gradient only
        if (scene.autocast() && traits.castsInput)
            form.saved = tokens * in * 2;
        else if (traits.savesInput)
            form.saved = tokens * in * element;
    }
    if (scene.autocast())
        form.weightCasts = 2 * in * out;
    form.input = tokens * in * element;
    form.output = tokens * out * element;
    form.backwardWorkspace = form.input + form.output;
    form.forwardFlops = 2 * tokens * in * out;
    form.backwardFlops = (scene.trainable ? 2 : 1) * form.forwardFlops;
    form.forwardTraffic = in * out * element + form.input + form.output;
    return form;
}

Form convolutionForm(const ConvolutionTraits& traits, const Scene& scene)
{
    const double element = scene.matmul();
    const double inputs = scene.batch * static_cast<double>(traits.inputPerSequence);
    const double outputs = scene.batch * static_cast<double>(traits.outputs.of(static_cast<std::int64_t>(std::min(scene.sequence, 9e18)))) *
                           static_cast<double>(traits.outChannels);
    const double weights =
        static_cast<double>(traits.inChannels) * static_cast<double>(traits.outChannels) * static_cast<double>(traits.kernel);

    Form form;
    if (scene.trainable)
        form.saved = inputs * element;
    if (scene.autocast())
        form.weightCasts = 2 * weights;
    form.input = inputs * element;
    form.output = outputs * element;
    form.backwardWorkspace = form.input + form.output;
    form.forwardFlops = 2 * outputs * static_cast<double>(traits.inChannels) * static_cast<double>(traits.kernel);
    form.backwardFlops = (scene.trainable ? 2 : 1) * form.forwardFlops;
    form.forwardTraffic = weights * element + form.input + form.output;
    return form;
}

namespace {

/// Bytes per token that the router's choice keeps, its input apart.
double routerBytes(const RouterTraits& traits, double element)
{
    const double experts = static_cast<double>(traits.experts);
    const double active = static_cast<double>(traits.active);
    const double groups = static_cast<double>(traits.groups);
    switch (traits.scores) {
    case RouterTraits::Scores::Softmax: // fp32 softmax; indices; their sum; the weights divided by it
        return 4 * experts + 8 * active + 4 + 4 * active;
    case RouterTraits::Scores::TopKSoftmax: // indices; softmax of the chosen scores
        return 8 * active + element * active;
    case RouterTraits::Scores::Sigmoid: // fp32 sigmoid; top-2 indices a group; chosen groups; mask; indices; sum; weights
        return 4 * experts + (groups > 1 ? 16 * groups + 4 * groups + experts : 0) + 8 * active + 4 + 4 * active;
    }
    return 0;
}

} // namespace

Form routerForm(const RouterTraits& traits, const Scene& scene)
{
    const double tokens = scene.tokens();
    const double hidden = static_cast<double>(traits.hidden);
    const double experts = static_cast<double>(traits.experts);
    const double element = scene.matmul();

    Form form;
    form.saved = tokens * routerBytes(traits, element);
    if (scene.half() && traits.scores == RouterTraits::Scores::Sigmoid && scene.trainable)
        form.saved += 4 * tokens * hidden; // DeepSeek-V3 runs the router in fp32, on a copy
    if (scene.autocast())
        form.weightCasts = 2 * hidden * experts;
    form.input = tokens * hidden * element;
    form.output = tokens * experts * 4;
    form.backwardWorkspace = form.input + form.output;
    form.forwardFlops = 2 * tokens * hidden * experts;
    form.backwardFlops = (scene.trainable ? 2 : 1) * form.forwardFlops;
    form.forwardTraffic = hidden * experts * element + form.input + 3 * form.output;
    return form;
}

Form expertsForm(const ExpertsTraits& traits, const Scene& scene)
{
    const double active = static_cast<double>(traits.active);
    const double experts = static_cast<double>(traits.experts);
    const double hidden = static_cast<double>(traits.hidden);
    const double width = static_cast<double>(traits.width);
    const double pairs = scene.tokens() * active;
    const double element = scene.residual(); // grouped_mm is not on autocast's list: experts run in the weights' type

    // Gathered rows, gate and up in one, what the activation keeps, the product that `down` reads, `down`'s output.
    const double activated = traits.activation == ActivationKind::GatedClampedSilu ? 7 : 4;
    const double perPair = (2 * hidden + activated * width) * element;
    const double indices = 8 + 8 + 8 + 4; // token, order, place of each pair, and its routing weight

    Form form;
    form.saved = pairs * (perPair + indices) + 4 * experts;
    form.input = scene.tokens() * hidden * element;
    form.output = form.input;
    form.forwardWorkspace = pairs * hidden * element;
    form.backwardWorkspace = pairs * (2 * hidden + 3 * width) * element;
    form.forwardFlops = 2 * pairs * 3 * hidden * width;
    form.backwardFlops = (scene.trainable ? 2 : 1) * form.forwardFlops;
    form.forwardTraffic = (3 * hidden * width * std::min(experts, pairs) + pairs * (4 * hidden + 8 * width)) * element;
    return form;
}

} // namespace loadline::forms
