// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/encoder_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace loadline {
namespace {

constexpr std::array<std::string_view, 5> kHeads{"ForMaskedLM", "ForPreTraining", "ForSequenceClassification", "ForImageClassification",
                                                 "Model"};

} // namespace

std::string headKind(ConfigReader& c, std::string_view fallback)
{
    const auto classes = c.texts("architectures");
    if (classes.empty())
        return std::string(fallback);
    for (const auto kind : kHeads)
        if (classes.front().ends_with(kind))
            return std::string(kind);
    c.fail(
        fmt::format("the key 'architectures' is '{}', but Loadline plans only classes that end in {}; change it or describe the model by "
                    "hand as docs/model-format.md says",
                    classes.front().substr(0, 60), fmt::join(kHeads, ", ")),
        ErrorCode::Unsupported);
    return std::string(fallback);
}

std::int64_t labelCount(ConfigReader& c)
{
    if (const auto given = c.optionalInteger("num_labels _num_labels"))
        return *given;
    const auto listed = c.sizeOf("id2label");
    return listed > 0 ? listed : 2;
}

void poolFirstToken(const std::string& name, std::int64_t hidden, ModelBuilder& b)
{
    b.enter(Place::FinalNorm);
    b.tokens({.fixed = 1});
    b.linear(name, hidden, hidden, {.bias = true, .castsInput = true});
    b.add(name + ".activation", ActivationTraits{ActivationKind::Tanh, hidden});
    b.tokens({});
}

void classifyPooled(const std::string& name, std::int64_t hidden, std::int64_t labels, ModelBuilder& b)
{
    b.tokens({.fixed = 1});
    b.enter(Place::Head);
    b.linear(name, hidden, labels, {.bias = true});
    b.enter(Place::Loss);
    b.add("loss." + name, LossTraits{.loss = LossKind::Classification, .classes = labels, .upcasts = false});
    b.tokens({});
}

} // namespace loadline
