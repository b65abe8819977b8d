// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/format.hpp"

#include "core/model/traits_fields.hpp"

#include <nlohmann/json.hpp>

#include <unordered_map>

namespace loadline {
namespace {

Json tokensJson(const TokenCount& tokens)
{
    Json out = Json::object();
    if (tokens.fixed > 0)
        out["fixed"] = tokens.fixed;
    if (tokens.most > 0)
        out["most"] = tokens.most;
    return out;
}

/// Puts each field that differs from `plain`, the kind's defaults, into `out`.
struct FieldWriter {
    Json& out;
    bool all = false;

    void operator()(const char* key, std::int64_t value, IntegerRange) { out[key] = value; }
    void operator()(const char* key, double value, double) { out[key] = value; }
    void operator()(const char* key, bool value) { out[key] = value; }
    void operator()(const char* key, const TokenCount& value) { out[key] = tokensJson(value); }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void operator()(const char* key, Enum value)
    {
        for (const auto& name : fields::namesOf(value))
            if (name.value == value)
                out[key] = std::string(name.name);
    }
};

template <class T>
Json allFields(const T& traits)
{
    Json out = Json::object();
    fields::each(traits, FieldWriter{out});
    return out;
}

template <class T>
void writeTraits(Json& out, const T& traits)
{
    static const Json defaults = allFields(T{});
    const auto values = allFields(traits);
    for (const auto& [key, value] : values.items())
        if (value != defaults[key])
            out[key] = value;
}

Json parameterJson(const Parameter& parameter)
{
    Json out{{"name", parameter.name}, {"shape", parameter.shape}};
    if (!parameter.trainable)
        out["trainable"] = false;
    return out;
}

Json operatorJson(const Operator& op, std::int64_t uses)
{
    Json out{{"name", op.name}, {"place", nullptr}};
    FieldWriter{out}("place", op.place);
    if (op.layer >= 0)
        out["layer"] = op.layer;
    if (!op.part.empty())
        out["part"] = op.part;
    out["kind"] = std::string(fields::kKinds[op.traits.index()]);
    std::visit([&](const auto& traits) { writeTraits(out, traits); }, op.traits);
    if (op.tokens != TokenCount{})
        out["tokens"] = tokensJson(op.tokens);
    out["parameters"] = op.parameterCount();
    out["uses"] = uses;
    if (!op.parameters.empty()) {
        out["weights"] = Json::array();
        for (const auto& parameter : op.parameters)
            out["weights"].push_back(parameterJson(parameter));
    }
    if (!op.sharesWith.empty())
        out["shares_with"] = op.sharesWith;
    return out;
}

std::string textOf(const Json& value)
{
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace

Json modelJson(const Model& model)
{
    std::unordered_map<std::string_view, std::int64_t> uses;
    for (const auto& op : model.operators)
        if (!op.sharesWith.empty())
            ++uses[op.sharesWith];
    Json out{{"format", std::string(kModelFormat)},
             {"name", model.name},
             {"family", model.family},
             {"hidden", model.hidden},
             {"default_sequence", model.defaultSequence},
             {"parameters", model.parameterCount()},
             {"trainable_parameters", model.trainableCount()},
             {"notes", model.notes},
             {"operators", Json::array()}};
    for (const auto& op : model.operators) {
        const auto others = uses.find(op.name);
        out["operators"].push_back(operatorJson(op, others == uses.end() ? 1 : 1 + others->second));
    }
    return out;
}

std::string modelText(const Json& document)
{
    std::string text = "{";
    const char* separator = "\n ";
    for (const auto& [key, value] : document.items()) {
        text += separator;
        text += Json(key).dump() + ": ";
        separator = ",\n ";
        if (!value.is_array() || value.empty() || !value.front().is_object()) {
            text += textOf(value);
            continue;
        }
        const char* between = "[\n  ";
        for (const auto& item : value) {
            text += between + textOf(item);
            between = ",\n  ";
        }
        text += "]";
    }
    return text + "\n}\n";
}

std::string writeModel(const Model& model)
{
    return modelText(modelJson(model));
}

} // namespace loadline
