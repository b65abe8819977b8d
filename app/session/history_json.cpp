// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/documents.hpp"
#include "app/session/keeper.hpp"
#include "core/base/json.hpp"
#include "core/model/format.hpp"
#include "core/model/reader.hpp"

#include <nlohmann/json.hpp>

#include <map>

namespace loadline {
namespace {

constexpr std::string_view kFormat = "loadline.undo/1";
constexpr std::size_t kMostKept = 200; ///< steps that come back after a restart

Json stateJson(const Inputs& inputs, const std::map<const Model*, std::size_t>& places)
{
    Json json{{"options", requestOptionsJson(inputs.options, inputs.budget)}, {"model", -1}};
    if (inputs.model)
        json["model"] = places.at(inputs.model.get());
    return json;
}

Result<Inputs> stateOf(const Json& json, const std::vector<std::shared_ptr<const Model>>& models, std::string_view origin)
{
    const auto wrong = [&](const char* what) {
        return invalidInput(std::string(origin) + ": the undo history has no proper '" + what + "'");
    };
    if (!json.is_object() || !json.contains("options") || !json["options"].is_string())
        return wrong("options");
    const auto options = readRequestOptions(json["options"].get<std::string>(), origin);
    if (!options)
        return options.error();
    const auto place = json.value("model", Json());
    if (!place.is_number_integer() || place.get<std::int64_t>() < 0 || place.get<std::uint64_t>() >= models.size())
        return wrong("model");
    return Inputs{options->options, models[place.get<std::size_t>()], options->budget};
}

} // namespace

std::string historyJson(const History<Inputs>& history)
{
    const auto& steps = history.steps();
    const std::size_t from = steps.size() > kMostKept ? steps.size() - kMostKept : 0;
    std::map<const Model*, std::size_t> places;
    Json models = Json::array();
    Json list = Json::array();
    for (std::size_t i = from; i < steps.size(); ++i) {
        for (const Inputs* state : {&steps[i].before, &steps[i].after}) {
            if (state->model && places.try_emplace(state->model.get(), models.size()).second)
                models.push_back(writeModel(*state->model));
        }
        list.push_back({{"name", steps[i].name.toStdString()},
                        {"before", stateJson(steps[i].before, places)},
                        {"after", stateJson(steps[i].after, places)}});
    }
    const std::size_t done = history.done() > from ? history.done() - from : 0;
    return Json{{"format", kFormat}, {"done", done}, {"models", models}, {"steps", list}}.dump(-1, ' ', false,
                                                                                               Json::error_handler_t::replace);
}

Result<History<Inputs>> readHistory(std::string_view text, std::string_view origin)
{
    const auto wrong = [&](const char* what) {
        return invalidInput(std::string(origin) + ": the undo history has no proper '" + what + "'");
    };
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || json.value("format", Json()) != kFormat)
        return wrong("format");
    std::vector<std::shared_ptr<const Model>> models;
    for (const Json& document : json.value("models", Json::array())) {
        if (!document.is_string())
            return wrong("models");
        auto model = readModel(document.get<std::string>(), origin);
        if (!model)
            return model.error();
        models.push_back(std::make_shared<const Model>(*std::move(model)));
    }
    const Json steps = json.value("steps", Json());
    const Json done = json.value("done", Json());
    if (!steps.is_array() || !done.is_number_unsigned() || done.get<std::size_t>() > steps.size())
        return wrong("steps");
    History<Inputs> history;
    for (const Json& step : steps) {
        if (!step.is_object() || !step.contains("name") || !step["name"].is_string())
            return wrong("name");
        auto before = stateOf(step.value("before", Json()), models, origin);
        if (!before)
            return before.error();
        auto after = stateOf(step.value("after", Json()), models, origin);
        if (!after)
            return after.error();
        history.push({QString::fromStdString(step["name"].get<std::string>()), *std::move(before), *std::move(after), {}});
    }
    while (history.done() > done.get<std::size_t>())
        history.undo();
    return history;
}

} // namespace loadline
