// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/recipe.hpp"

#include "core/base/embedded.hpp"
#include "core/base/json.hpp"
#include "core/cluster/fields.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace loadline {

std::span<const EmbeddedFile> embeddedRecipes();

namespace {

/// No number format in use is wider than 8 bytes; 64 leaves room for odd optimizers.
constexpr double kMostBytesPerParameter = 64;

constexpr std::array kModes{ComputeMode::Fp32, ComputeMode::Bf16, ComputeMode::Fp16, ComputeMode::AutocastBf16};

/// The bundled recipes of one kind; `read` is readPrecision or readOptimizer.
template <class Recipe, class Read>
std::vector<Recipe> readBundled(std::string_view prefix, Read read)
{
    std::vector<Recipe> recipes;
    for (const auto& file : embeddedRecipes()) {
        if (!file.name.starts_with(prefix))
            continue;
        // A bundled file that does not read is left out here; a test reads each of them.
        if (auto recipe = read(file.text, file.name); recipe.ok())
            recipes.push_back(std::move(recipe).value());
    }
    return recipes;
}

template <class Recipe, class Read>
Result<Recipe> load(const std::string& nameOrFile, const std::vector<Recipe>& bundled, std::string_view kind, Read read)
{
    const auto at = std::find_if(bundled.begin(), bundled.end(), [&](const Recipe& recipe) { return recipe.name == nameOrFile; });
    if (at != bundled.end())
        return *at;
    std::error_code code;
    if (!std::filesystem::exists(nameOrFile, code)) {
        std::string names;
        for (const auto& recipe : bundled)
            names += (names.empty() ? "" : ", ") + recipe.name;
        return notFound(fmt::format("there is no {} and no file called '{}'; known are {}", kind, nameOrFile, names));
    }
    auto text = readFile(nameOrFile, 1LL << 20);
    if (!text.ok())
        return text.error();
    return read(text.value(), nameOrFile);
}

} // namespace

double stateBytes(const PrecisionRecipe& precision, const OptimizerRecipe& optimizer)
{
    if (!optimizer.stateFollowsWeight)
        return optimizer.state;
    const double seen = precision.master > 0 ? precision.master : precision.weight;
    return optimizer.state * seen / 4;
}

std::string_view computeModeName(ComputeMode mode)
{
    switch (mode) {
    case ComputeMode::Fp32:
        return "fp32";
    case ComputeMode::Bf16:
        return "bf16";
    case ComputeMode::Fp16:
        return "fp16";
    case ComputeMode::AutocastBf16:
        return "autocast-bf16";
    }
    return "fp32";
}

Result<PrecisionRecipe> readPrecision(std::string_view text, std::string_view origin)
{
    auto document = parseFormat(text, origin, "precision", 1);
    if (!document.ok())
        return document.error();
    Fields fields(document.value(), std::string(origin));
    PrecisionRecipe recipe;
    fields.text("format");
    recipe.name = fields.text("name");
    const auto compute = fields.text("compute");
    const auto mode = std::find_if(kModes.begin(), kModes.end(), [&](ComputeMode m) { return computeModeName(m) == compute; });
    if (mode == kModes.end())
        fields.fail("compute", "is none of fp32, bf16, fp16, autocast-bf16; write one of them");
    else
        recipe.compute = *mode;
    recipe.weight = fields.number("weight", 0.125, kMostBytesPerParameter);
    recipe.master = fields.number("master", 0, kMostBytesPerParameter, 0.0);
    recipe.gathered = fields.number("gathered", 0.125, kMostBytesPerParameter);
    recipe.gradient = fields.number("gradient", 0.125, kMostBytesPerParameter);
    recipe.reduced = fields.number("reduced", 0.125, kMostBytesPerParameter);
    recipe.source = fields.text("source", "");
    fields.refuseUnknown();
    if (fields.fault())
        return *fields.fault();
    return recipe;
}

Result<OptimizerRecipe> readOptimizer(std::string_view text, std::string_view origin)
{
    auto document = parseFormat(text, origin, "optimizer", 1);
    if (!document.ok())
        return document.error();
    Fields fields(document.value(), std::string(origin));
    OptimizerRecipe recipe;
    fields.text("format");
    recipe.name = fields.text("name");
    recipe.state = fields.number("state", 0, kMostBytesPerParameter);
    recipe.stateFollowsWeight = fields.flag("state_follows_weight", false);
    recipe.stepTransient = fields.number("step_transient", 0, kMostBytesPerParameter, 0.0);
    recipe.factored = fields.flag("factored", false);
    recipe.source = fields.text("source", "");
    fields.refuseUnknown();
    if (fields.fault())
        return *fields.fault();
    return recipe;
}

std::string writePrecision(const PrecisionRecipe& recipe)
{
    const Json document = {{"format", "loadline.precision/1"}, {"name", recipe.name},       {"compute", computeModeName(recipe.compute)},
                           {"weight", recipe.weight},          {"master", recipe.master},   {"gathered", recipe.gathered},
                           {"gradient", recipe.gradient},      {"reduced", recipe.reduced}, {"source", recipe.source}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string writeOptimizer(const OptimizerRecipe& recipe)
{
    const Json document = {{"format", "loadline.optimizer/1"},
                           {"name", recipe.name},
                           {"state", recipe.state},
                           {"state_follows_weight", recipe.stateFollowsWeight},
                           {"step_transient", recipe.stepTransient},
                           {"factored", recipe.factored},
                           {"source", recipe.source}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

const std::vector<PrecisionRecipe>& bundledPrecisions()
{
    static const auto recipes = readBundled<PrecisionRecipe>("precision-", readPrecision);
    return recipes;
}

const std::vector<OptimizerRecipe>& bundledOptimizers()
{
    static const auto recipes = readBundled<OptimizerRecipe>("optimizer-", readOptimizer);
    return recipes;
}

Result<PrecisionRecipe> loadPrecision(const std::string& nameOrFile)
{
    return load(nameOrFile, bundledPrecisions(), "precision recipe", readPrecision);
}

Result<OptimizerRecipe> loadOptimizer(const std::string& nameOrFile)
{
    return load(nameOrFile, bundledOptimizers(), "optimizer", readOptimizer);
}

} // namespace loadline
