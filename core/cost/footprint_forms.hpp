// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/footprint.hpp"

#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace loadline::forms {

/// Sizes of one micro-step as doubles: whole numbers stay exact up to 2^53 and absurd ones can't overflow.
struct Scene {
    double batch = 1;
    double sequence = 1; ///< tokens of one sequence that this operator sees
    double keys = 1;     ///< tokens that attention looks at
    ComputeMode mode = ComputeMode::Fp32;
    AttentionKind attention = AttentionKind::Auto;
    std::optional<double> dropout;
    bool sinks = false;    ///< attention with a learned score per head that attends to nothing (GPT-OSS)
    bool trainable = true; ///< the operator has a trainable parameter, or has none of its own

    [[nodiscard]] double tokens() const { return batch * sequence; }
    [[nodiscard]] bool autocast() const { return mode == ComputeMode::AutocastBf16; }
    [[nodiscard]] bool half() const { return mode == ComputeMode::Bf16 || mode == ComputeMode::Fp16; }
    /// Bytes per element of what matrix products read and write.
    [[nodiscard]] double matmul() const { return mode == ComputeMode::Fp32 ? 4 : 2; }
    /// Bytes per element of the residual stream and of norm inputs: autocast leaves them in fp32.
    [[nodiscard]] double residual() const { return half() ? 2 : 4; }
    /// The probability in force for an operator whose configuration says `configured`.
    [[nodiscard]] double probability(double configured) const { return dropout.value_or(configured); }
};

/// A Footprint before rounding. `readerSaved` is what the operator's readers save of its output: it counts at this
/// operator, unless the next one stands in another place (time of first save).
struct Form {
    double saved = 0;
    double readerSaved = 0;
    double weightCasts = 0;
    double input = 0;
    double output = 0;
    double forwardWorkspace = 0;
    double backwardWorkspace = 0;
    double forwardFlops = 0;
    double backwardFlops = 0;
    double forwardTraffic = 0;
};

Form embeddingForm(const EmbeddingTraits& traits, const Scene& scene);
Form normForm(const NormTraits& traits, const Scene& scene);
Form linearForm(const LinearTraits& traits, const Scene& scene);
Form attentionForm(const AttentionTraits& traits, const Scene& scene, AttentionKind kind);
Form activationForm(const ActivationTraits& traits, const Scene& scene);
Form dropoutForm(const DropoutTraits& traits, const Scene& scene);
Form routerForm(const RouterTraits& traits, const Scene& scene);
Form expertsForm(const ExpertsTraits& traits, const Scene& scene);
Form convolutionForm(const ConvolutionTraits& traits, const Scene& scene);
Form lossForm(const LossTraits& traits, const Scene& scene);
Form customForm(const CustomTraits& traits, const Scene& scene);

/// Which operators have something to train. Looks into `model`, which must live as long.
class Trained {
public:
    explicit Trained(const Model& model);

    /// False for a frozen operator, and for one that shares frozen parameters; true for one without any.
    [[nodiscard]] bool trains(const Operator& op) const;
    [[nodiscard]] bool anyFrozen() const { return m_frozen; }

private:
    std::unordered_set<std::string_view> m_names;
    bool m_frozen = false;
};

/// Takes from `readerSaved` what no trainable reader saves. `all` has one entry per operator; `scene` says the mode.
void dropFrozen(const Model& model, const Trained& trained, const Scene& scene, std::vector<Form>& all);

} // namespace loadline::forms
