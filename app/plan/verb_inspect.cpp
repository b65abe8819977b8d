// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/table.hpp"
#include "app/plan/verbs.hpp"

#include "core/base/text.hpp"
#include "core/exchange/inspect.hpp"

#include <fmt/format.h>

namespace loadline {
namespace {

std::string savedText(const SavedBytes& saved, const std::vector<std::int64_t>& layerParameters)
{
    TextTable table(
        {{"Saved for backward", TextTable::Align::Left}, {"bytes", TextTable::Align::Right}, {"parameters", TextTable::Align::Right}});
    const auto row = [&](const std::string& name, Bytes bytes, const std::string& parameters = "") {
        if (bytes.count() != 0 || !parameters.empty())
            table.add({name, formatBytes(bytes), parameters});
    };
    row("embedding", saved.embedding);
    // Equal layers in a row are one line.
    for (std::size_t first = 0; first < saved.layers.size();) {
        auto last = first;
        while (last + 1 < saved.layers.size() && saved.layers[last + 1] == saved.layers[first] &&
               layerParameters[last + 1] == layerParameters[first])
            ++last;
        const auto each = formatCount(static_cast<double>(layerParameters[first]));
        row(first == last ? fmt::format("layer {}", first) : fmt::format("layers {} to {}, each", first, last), saved.layers[first], each);
        first = last + 1;
    }
    row("between encoder and decoder", saved.between);
    row("final norm", saved.finalNorm);
    row("head", saved.head);
    row("loss", saved.loss);
    table.add({"total", formatBytes(saved.total), ""});
    row("weight casts beside it", saved.weightCasts);
    return table.text();
}

std::string inspectText(const Setup& setup, const ActivationSettings& settings)
{
    const auto& model = *setup.model;
    auto text = fmt::format("{} ({}): {} parameters ({}), {} trainable, {} operators, {} layers\n", model.name.substr(0, 40),
                            model.family.substr(0, 20), model.parameterCount(), formatCount(static_cast<double>(model.parameterCount())),
                            formatCount(static_cast<double>(model.trainableCount())), model.operators.size(), model.layerCount());
    text += fmt::format("batch {}, sequence {}, {}, attention {}\n\n", settings.batch, settings.sequence, setup.precision.name,
                        attentionWord(setup.attention));
    std::vector<std::int64_t> layerParameters(static_cast<std::size_t>(model.layerCount()));
    for (const auto& op : model.operators) {
        if (op.layer >= 0)
            layerParameters[static_cast<std::size_t>(op.layer)] += op.parameterCount();
    }
    const auto prints = footprints(model, settings);
    text += savedText(savedBytes(model, prints), layerParameters) + '\n';
    TextTable states(
        {{"Bytes per parameter", TextTable::Align::Left}, {"", TextTable::Align::Right}, {"whole model", TextTable::Align::Right}});
    const auto& precision = setup.precision;
    const auto term = [&](const char* name, double each, std::int64_t count) {
        if (each > 0)
            states.add({name, fmt::format("{:g}", each), formatBytes(Bytes(static_cast<std::int64_t>(each * static_cast<double>(count))))});
    };
    term("weight", precision.weight, model.parameterCount());
    term("master copy", precision.master, model.trainableCount());
    term("gradient", precision.gradient, model.trainableCount());
    term(("optimizer (" + setup.optimizer.name + ")").c_str(), stateBytes(precision, setup.optimizer), model.trainableCount());
    text += states.text() + '\n';
    // Operators of the first of equal layers stand for all: a page, not a scroll.
    TextTable operators({{"Operators (each layer once)", TextTable::Align::Left},
                         {"parameters", TextTable::Align::Right},
                         {"saved", TextTable::Align::Right}});
    constexpr std::size_t kMostRows = 60;
    std::size_t rows = 0;
    for (std::size_t i = 0; i < model.operators.size(); ++i) {
        const auto& op = model.operators[i];
        if (op.layer > 0)
            continue;
        if (rows++ < kMostRows)
            operators.add({op.name, formatCount(static_cast<double>(op.parameterCount())), formatBytes(prints[i].saved)});
    }
    text += operators.text();
    if (rows > kMostRows)
        text += fmt::format("  ... and {} more; --json has every operator\n", rows - kMostRows);
    for (const auto& note : model.notes)
        text += wrapped("note: " + note, "");
    return text;
}

} // namespace

Result<Answer> runInspect(const Arguments& arguments)
{
    Answer answer;
    auto options = arguments.request;
    if (options.batch == "auto") {
        options.batch = "1";
        if (arguments.has("batch"))
            answer.words.emplace_back("--batch auto has nothing to choose by here: 1 is taken");
    }
    const auto resolved = resolveRequest(options);
    if (!resolved)
        return resolved.error();
    const auto& setup = resolved->request.setup;
    // The cost table refuses sizes whose bytes cannot be counted.
    if (const auto table = buildCostTable(setup); !table)
        return table.error();
    const ActivationSettings settings{setup.batch, setup.sequence, setup.precision.compute, setup.attention, setup.dropout};
    std::string json;
    if (arguments.json || !arguments.output.empty())
        json = inspectJson(*setup.model, settings);
    if (auto problem = writeOutput(arguments, json))
        return *problem;
    answer.text = arguments.json ? json : inspectText(setup, settings);
    return answer;
}

} // namespace loadline
