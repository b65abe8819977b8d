// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/export_folder.hpp"
#include "app/plan/stored.hpp"
#include "app/plan/table.hpp"
#include "app/plan/verbs.hpp"

#include "core/base/json.hpp"
#include "core/exchange/html_report.hpp"
#include "core/export/bundle.hpp"
#include "core/export/foreign.hpp"
#include "core/export/tables.hpp"
#include "core/model/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace loadline {
namespace {

constexpr int kReportBudgets = 60; ///< of the trade-off's curve on the page

/// The Hugging Face configuration that goes with a bundle: the one given, else the bundled one that the plan was made of. Empty if
/// there is none.
Result<std::string> configOf(const Arguments& arguments, const PlanDocument& document)
{
    std::string text;
    const bool given = arguments.has("model");
    const std::string name = given ? arguments.request.model : document.provenance.model;
    if (const auto bundled = bundledModelText(name); !bundled.empty()) {
        text = bundled;
    } else if (given) {
        auto file = readFile(name);
        if (!file)
            return file;
        text = std::move(*file);
    }
    if (text.find("\"loadline.model/") != std::string::npos) // described by hand: there is nothing that Hugging Face could read
        text.clear();
    if (!given && !text.empty()) { // the name may be another model's
        const auto model = readModel(text, name);
        if (!model || model->operators != document.setup.model->operators)
            text.clear();
    }
    return text;
}

Result<Exported> taken(Result<ForeignExport> made)
{
    if (!made)
        return made.error();
    return std::move(made->exported);
}

/// The page, with the trade-off of the plan's own batch.
Result<Exported> htmlExport(const PlanDocument& document)
{
    const auto planner = Planner::prepare(document.outcome.plan->table, document.pins);
    if (!planner)
        return planner.error();
    return Exported{{{"plan.html", htmlReport(document, planner->tradeOff(kReportBudgets)), false}}, {}};
}

Result<Exported> makeExport(const Arguments& arguments, const PlanDocument& document)
{
    if (arguments.format == "fsdp2") {
        const auto config = configOf(arguments, document);
        if (!config)
            return config.error();
        return fsdp2Bundle(document, *config);
    }
    if (!document.outcome.plan)
        return invalidInput("The file says that no plan fits, so there is nothing to export; plan with a larger budget");
    if (arguments.format == "deepspeed")
        return taken(deepspeedExport(document));
    if (arguments.format == "galvatron")
        return taken(galvatronExport(document));
    if (arguments.format == "accelerate")
        return taken(accelerateExport(document));
    if (arguments.format == "html")
        return htmlExport(document);
    if (arguments.format == "csv")
        return Exported{{{"plan.csv", planCsv(*document.outcome.plan), false}}, {}};
    if (arguments.format == "json")
        return Exported{{{"plan.json", planJson(document), false}}, {}};
    return invalidInput(
        fmt::format("--format is '{}'; give fsdp2, deepspeed, galvatron, accelerate, html, csv or json", arguments.format.substr(0, 40)));
}

std::string exportText(const Arguments& arguments, const Exported& exported)
{
    std::string text = fmt::format("Written to {}:", arguments.output);
    if (exported.files.size() == 1)
        text.pop_back(); // the output is the file itself
    else
        for (const auto& file : exported.files)
            text += ' ' + file.name;
    text += '\n';
    for (const auto& note : exported.notes)
        text += wrapped("- " + note, "  ");
    return text;
}

std::string exportJson(const Arguments& arguments, const Exported& exported)
{
    Json files = Json::array();
    for (const auto& file : exported.files)
        files.push_back(file.name);
    const Json json = {{"format", "loadline.export/1"},
                       {"kind", arguments.format},
                       {"output", arguments.output},
                       {"files", std::move(files)},
                       {"notes", exported.notes}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace

Result<Answer> runExport(const Arguments& arguments)
{
    Answer answer;
    const auto saved = loadPlanOrSession(arguments.files[0], arguments, answer.words);
    if (!saved)
        return saved.error();
    const auto exported = makeExport(arguments, saved->document);
    if (!exported)
        return exported.error();
    if (!saved->violations.empty())
        answer.words.push_back(fmt::format("'{}' contradicts itself ({}); run check on it", arguments.files[0], saved->violations.front()));
    const bool single = exported->files.size() == 1;
    if (arguments.output.empty() && !single)
        return invalidInput("export needs --output FOLDER for this format; give one");
    if (arguments.output.empty()) {
        answer.text = exported->files.front().text;
        for (const auto& note : exported->notes)
            answer.words.push_back(note);
        return answer;
    }
    if (single) {
        const auto file = singleFile(arguments.output, exported->files.front().name);
        if (!file)
            return file.error();
        if (const auto written = writeFile(*file, exported->files.front().text); !written)
            return written.error();
    } else if (auto problem = writeExport(arguments.output, exported->files)) {
        return *problem;
    }
    answer.text = arguments.json ? exportJson(arguments, *exported) : exportText(arguments, *exported);
    return answer;
}

} // namespace loadline
