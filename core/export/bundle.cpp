// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/bundle.hpp"

#include "core/base/embedded.hpp"
#include "core/base/text.hpp"
#include "core/export/bundle_plan.hpp"
#include "core/model/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

namespace loadline {

std::span<const EmbeddedFile> embeddedBundle();

namespace {

constexpr std::array kInPyTorch{"adamw", "sgd", "sgd-momentum"};

/// What FSDP2 cannot do; nothing if it can do it all.
std::optional<Error> refusal(const Setup& setup, const CostTable& table)
{
    const PrecisionRecipe& precision = setup.precision;
    if (precision.master > 0 || precision.compute == ComputeMode::Fp16)
        return unsupported(
            fmt::format("Precision {} needs a loss scale or a master copy beside the shards, which the bundle does not have; plan with "
                        "fp32, bf16, bf16-mixed or autocast-bf16",
                        precision.name));
    for (const double bytes : {precision.weight, precision.gathered, precision.reduced})
        if (bytes != 2 && bytes != 4)
            return unsupported(
                fmt::format("Precision {} stores {} bytes a parameter, and FSDP2 has types of 2 and 4; plan with another recipe",
                            precision.name, bytes));
    for (const Unit& unit : table.units)
        for (const std::size_t op : unit.operators) {
            const Operator& one = setup.model->operators[op];
            const bool again = one.name.find('@') != std::string::npos; // the same module once more
            if (!one.sharesWith.empty() && !again && !unit.borrows.empty())
                return unsupported(
                    fmt::format("{} shares the parameters of {}, which FSDP2 would untie in units of their own; plan with --unit block",
                                one.name, one.sharesWith));
        }
    return {};
}

std::optional<Error> checkConfig(std::string_view config, const Model& planned)
{
    auto model = readModel(config, "the model's config.json");
    if (!model)
        return model.error();
    if (model->operators != planned.operators)
        return invalidInput(
            fmt::format("The configuration given is not of the planned model {}; give the one it was planned from, or none", planned.name));
    return {};
}

std::string replaced(std::string text, std::string_view from, std::string_view to)
{
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

/// A name that a batch system takes: letters, digits, dots and dashes.
std::string jobName(const std::string& model)
{
    std::string name = fmt::format("loadline-{}", model.substr(0, 40));
    std::replace_if(
        name.begin(), name.end(),
        [](char c) { return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.'); }, '-');
    return name;
}

/// One line without what Markdown would read as its own.
std::string plain(std::string text)
{
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == '`' || c == '<' || c == '|'; }, ' ');
    return text;
}

std::string summary(const Plan& plan)
{
    const Setup& setup = plan.table.setup;
    return fmt::format("Predicted on {} ranks ({} x {}), {} sequences of {} tokens per rank and micro-step, {} micro-steps, {}, {}: {} "
                       "allocated at the\npeak, "
                       "{} a step, {} tokens/s.",
                       setup.cluster.ranks(), setup.cluster.nodes, setup.cluster.gpusPerNode, setup.batch, setup.sequence,
                       setup.accumulation, plain(setup.precision.name), plain(setup.optimizer.name),
                       formatBytes(plan.peak - plan.table.overhead), formatSeconds(plan.time.overlapped),
                       formatCount(plan.tokensPerSecond()));
}

/// What a person should know beside the files.
void addNotes(Exported& exported, const PlanDocument& document, const Projection& projection, bool withConfig)
{
    auto& notes = exported.notes;
    const Plan& plan = projection.plan;
    const Setup& setup = plan.table.setup;
    notes = projection.notes;
    if (document.setup.rules.name != setup.rules.name)
        notes.push_back(fmt::format("Planned for runtime {}; under FSDP2's rules it needs {}.", document.setup.rules.name,
                                    costInWords(*document.outcome.plan, plan)));
    if (plan.peak > document.outcome.budget)
        notes.push_back(fmt::format("It does not fit: the peak is {} and the budget {}; plan with --runtime fsdp2.", formatBytes(plan.peak),
                                    formatBytes(document.outcome.budget)));
    if (std::find(kInPyTorch.begin(), kInPyTorch.end(), setup.optimizer.name) == kInPyTorch.end())
        notes.push_back(fmt::format("PyTorch has no optimizer {} for sharded parameters; put yours into make_optimizer of train.py.",
                                    setup.optimizer.name));
    if (!withConfig)
        notes.push_back("There is no config.json in the bundle; give train.py --model, or apply_plan your own model.");
    if (document.provenance.profile == "estimated")
        notes.push_back("Times are estimated from the device's description; bytes are reckoned exactly.");
}

} // namespace

Result<Projection> fsdp2Plan(const PlanDocument& document)
{
    if (!document.outcome.plan)
        return invalidInput("The file says that no plan fits, so there is nothing to export; plan with a larger budget");
    const Plan& plan = *document.outcome.plan;
    Setup setup = plan.table.setup;
    Result<Projection> projection = Projection{plan, {}};
    if (setup.rules != fsdp2Rules()) {
        setup.rules = fsdp2Rules();
        projection = project(plan, setup);
        if (!projection)
            return projection;
    }
    if (auto problem = refusal(setup, projection->plan.table))
        return *problem;
    return projection;
}

Result<Exported> fsdp2Bundle(const PlanDocument& document, std::string_view config)
{
    auto projection = fsdp2Plan(document);
    if (!projection)
        return projection.error();
    const Setup& setup = projection->plan.table.setup;
    if (!config.empty())
        if (auto problem = checkConfig(config, *setup.model))
            return *problem;
    auto planText = bundlePlanJson(projection->plan, document.provenance, !config.empty());
    if (!planText)
        return planText.error();

    Exported exported;
    addNotes(exported, document, *projection, !config.empty());
    std::string notes;
    for (const auto& note : exported.notes)
        notes += fmt::format("- {}\n", plain(note));
    const std::array<std::pair<std::string_view, std::string>, 7> words{{
        {"@TITLE@", plain(fmt::format("{} on {}", setup.model->name, document.provenance.cluster))},
        {"@VERSION@", std::string(loadlineVersion())},
        {"@SUMMARY@", summary(projection->plan)},
        {"@NOTES@\n", notes.empty() ? "Nothing that the files do not say.\n" : notes},
        {"@NAME@", jobName(setup.model->name)},
        {"@NODES@", std::to_string(setup.cluster.nodes)},
        {"@PER_NODE@", std::to_string(setup.cluster.gpusPerNode)},
    }};
    for (const EmbeddedFile& file : embeddedBundle()) {
        std::string text(file.text);
        if (!file.name.ends_with(".py"))
            for (const auto& [from, to] : words)
                text = replaced(std::move(text), from, to);
        exported.files.push_back({std::string(file.name), std::move(text), file.name.ends_with(".sh")});
    }
    exported.files.push_back({"plan.json", std::move(*planText), false});
    if (!config.empty())
        exported.files.push_back({"config.json", std::string(config), false});
    return exported;
}

} // namespace loadline
