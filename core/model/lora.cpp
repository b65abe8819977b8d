// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/lora.hpp"

#include "core/base/text.hpp"
#include "core/model/model_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace loadline {
namespace {

constexpr std::int64_t kMostRank = 1 << 16;
constexpr std::string_view kAllLinear = "all-linear";

/// PEFT's rule: the whole name, or its end after a dot.
bool isTarget(const std::string& name, std::string_view target)
{
    return name == target || (name.size() > target.size() && name.ends_with(target) && name[name.size() - target.size() - 1] == '.');
}

bool isAdapted(const Operator& op, std::string_view target)
{
    if (!std::holds_alternative<LinearTraits>(op.traits))
        return false;
    return target == kAllLinear ? op.place != Place::Head : isTarget(op.name, target);
}

/// In doubles: sizes of hand-described models may be so large that their product does not fit 64 bits.
bool tooLarge(const Model& model, const LoraSettings& settings)
{
    auto count = static_cast<double>(model.parameterCount());
    for (const auto& op : model.operators)
        if (const auto* linear = std::get_if<LinearTraits>(&op.traits))
            count += static_cast<double>(settings.rank) * (static_cast<double>(linear->in) + static_cast<double>(linear->out));
    return count > static_cast<double>(kMostParameters);
}

Operator adapter(const Operator& base, std::string_view which, LinearTraits traits)
{
    Operator op;
    op.name = fmt::format("{}.{}.default", base.name, which);
    op.place = base.place;
    op.layer = base.layer;
    op.part = base.part;
    op.tokens = base.tokens;
    op.traits = traits;
    op.parameters.push_back({op.name + ".weight", {traits.out, traits.in}, true});
    return op;
}

} // namespace

Result<LoraSettings> parseLora(std::string_view text)
{
    LoraSettings settings;
    for (const auto& item : split(text, ',')) {
        const auto at = item.find('=');
        const auto key = item.substr(0, at);
        const auto value = at == std::string::npos ? std::string() : item.substr(at + 1);
        if (key == "rank" || key == "r") {
            const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), settings.rank);
            if (code != std::errc() || end != value.data() + value.size() || settings.rank < 1 || settings.rank > kMostRank)
                return invalidInput(fmt::format("the LoRA rank '{}' must be a whole number from 1 to {}", value, kMostRank));
        } else if (key == "targets") {
            settings.targets = split(value, ':');
        } else
            return invalidInput(fmt::format("'{}' is no LoRA setting; write rank=16,targets=q_proj:v_proj", key));
    }
    const bool empty = std::any_of(settings.targets.begin(), settings.targets.end(), [](const auto& target) { return target.empty(); });
    if (settings.rank == 0 || settings.targets.empty() || empty)
        return invalidInput(fmt::format("'{}' lacks a rank or a target; write rank=16,targets=q_proj:v_proj", text));
    return settings;
}

Result<Model> applyLora(Model model, const LoraSettings& settings)
{
    if (settings.rank < 1 || settings.rank > kMostRank)
        return invalidInput(fmt::format("the LoRA rank {} must be from 1 to {}", settings.rank, kMostRank));
    for (const auto& target : settings.targets)
        if (std::none_of(model.operators.begin(), model.operators.end(), [&](const auto& op) { return isAdapted(op, target); }))
            return invalidInput(
                fmt::format("the LoRA target '{}' matches no linear of '{}'; take the last part of a linear's name", target, model.name));
    for (auto& op : model.operators)
        for (auto& parameter : op.parameters)
            parameter.trainable = false;

    if (tooLarge(model, settings))
        return invalidInput(fmt::format("the LoRA rank {} gives more than 2^53 parameters; take a smaller one", settings.rank));

    std::vector<Operator> operators;
    operators.reserve(model.operators.size());
    int adapted = 0;
    for (auto& op : model.operators) {
        operators.push_back(std::move(op));
        const auto hit = [&](const auto& target) { return isAdapted(operators.back(), target); };
        if (std::none_of(settings.targets.begin(), settings.targets.end(), hit))
            continue;
        const Operator base = operators.back();
        const auto& linear = std::get<LinearTraits>(base.traits);
        // A reads what the base reads; under autocast each linear casts for itself. Only A saves what B reads.
        operators.push_back(adapter(base, "lora_A", {linear.in, settings.rank, false, true}));
        operators.push_back(adapter(base, "lora_B", {settings.rank, linear.out, true, false}));
        ++adapted;
    }
    model.operators = std::move(operators);
    model.notes.push_back(fmt::format("LoRA of rank {} on {} linears: {} of {} parameters are trained.", settings.rank, adapted,
                                      model.trainableCount(), model.parameterCount()));
    return model;
}

Result<Model> applyLora(Model model, std::string_view text)
{
    const auto settings = parseLora(text);
    if (!settings)
        return settings.error();
    return applyLora(std::move(model), *settings);
}

Result<int> freeze(Model& model, std::string_view pattern)
{
    int frozen = 0;
    for (auto& op : model.operators)
        for (auto& parameter : op.parameters)
            if (matchesPattern(pattern, op.name) || matchesPattern(pattern, parameter.name)) {
                parameter.trainable = false;
                ++frozen;
            }
    if (frozen == 0)
        return invalidInput(fmt::format("'{}' matches no parameter of '{}'; use names as inspect prints them", pattern, model.name));
    return frozen;
}

} // namespace loadline
