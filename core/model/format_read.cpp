// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/format.hpp"

#include "core/model/config_reader.hpp"
#include "core/model/model_builder.hpp"
#include "core/model/traits_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <unordered_set>

namespace loadline {
namespace {

constexpr std::string_view kFormatStart = "loadline.model/";
constexpr std::size_t kMostOperators = 1000000;
constexpr std::size_t kMostDimensions = 8;

TokenCount readTokens(ConfigReader& c, std::string_view key)
{
    if (!c.has(key))
        return {};
    auto child = c.child(key);
    const TokenCount tokens{child.optionalInteger("fixed", fields::kCount).value_or(0),
                            child.optionalInteger("most", fields::kCount).value_or(0)};
    c.take(child);
    return tokens;
}

/// Reads fields; one without a usable default must be there.
struct FieldReader {
    ConfigReader& c;

    void operator()(const char* key, std::int64_t& value, IntegerRange range)
    {
        const bool needed = value < range.least;
        if (needed || c.has(key))
            value = c.integer(key, range);
    }
    void operator()(const char* key, double& value, double most)
    {
        if (c.has(key))
            value = c.numberOr(key, value, 0, most);
    }
    void operator()(const char* key, bool& value)
    {
        if (c.has(key))
            value = c.flagOr(key, value);
    }
    void operator()(const char* key, TokenCount& value) { value = readTokens(c, key); }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void operator()(const char* key, Enum& value)
    {
        if (!c.has(key))
            return;
        const auto text = c.textOr(key, "");
        const auto& names = fields::namesOf(value);
        const auto found = std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.name == text; });
        if (found != names.end()) {
            value = found->value;
            return;
        }
        std::vector<std::string_view> known;
        known.reserve(names.size());
        for (const auto& name : names)
            known.push_back(name.name);
        c.fail(fmt::format("the key '{}{}' is '{}', but must be one of {}", c.path(), key, text.substr(0, 40), fmt::join(known, ", ")));
    }
};

template <std::size_t I = 0>
Traits readTraits(ConfigReader& c, std::string_view kind)
{
    if constexpr (I < std::variant_size_v<Traits>) {
        if (fields::kKinds[I] != kind)
            return readTraits<I + 1>(c, kind);
        std::variant_alternative_t<I, Traits> traits;
        fields::each(traits, FieldReader{c});
        return traits;
    } else {
        c.fail(
            fmt::format("the key '{}kind' is '{}', but must be one of {}", c.path(), kind.substr(0, 40), fmt::join(fields::kKinds, ", ")));
        return CustomTraits{};
    }
}

class DocumentReader {
public:
    DocumentReader(const Json& document, std::string_view origin) : m_reader(document, std::string(origin)) {}

    Result<Model> read()
    {
        header();
        auto operators = m_reader.children("operators");
        m_reader.require(!operators.empty(), "the key 'operators' is missing or empty; list at least one operator");
        m_reader.require(operators.size() <= kMostOperators,
                         fmt::format("there are more than {} operators; describe fewer", kMostOperators));
        for (auto& op : operators) {
            if (!m_reader.ok() || m_builder.tooLarge())
                break;
            readOperator(op);
            m_reader.take(op);
        }
        if (m_builder.tooLarge())
            m_reader.fail("the shapes give more than 2^53 parameters; correct them");
        checkSharing();
        checkTotals();
        if (!m_reader.ok())
            return *m_reader.problem();
        return std::move(m_builder.model);
    }

private:
    void header()
    {
        auto& model = m_builder.model;
        model.name = m_reader.textOr("name", "");
        model.family = m_reader.textOr("family", "custom");
        model.hidden = m_reader.optionalInteger("hidden", fields::kCount).value_or(0);
        model.defaultSequence = m_reader.integerOr("default_sequence", 1024, kTokenRange);
        model.notes = m_reader.texts("notes");
    }

    void readOperator(ConfigReader& c)
    {
        auto name = c.has("name") ? c.textOr("name", "") : "";
        c.require(!name.empty(), fmt::format("the key '{}name' is missing; give every operator a name of its own", c.path()));
        if (c.ok() && !m_names.insert(name).second)
            c.fail(fmt::format("the key '{}name' is '{}' for the second time; give every operator a name of its own", c.path(), name));
        Place place = Place::Layer;
        FieldReader{c}("place", place);
        const int layer = readLayer(c, place);
        auto traits = readTraits(c, c.has("kind") ? c.textOr("kind", "") : "custom");
        const auto tokens = readTokens(c, "tokens");
        if (!c.ok())
            return;
        m_builder.enter(place, layer);
        m_builder.part(c.has("part") ? c.textOr("part", "") : "");
        m_builder.tokens(tokens);
        m_builder.add(std::move(name), traits).sharesWith = c.has("shares_with") ? c.textOr("shares_with", "") : "";
        readWeights(c);
    }

    /// Layers count up from 0 without a gap: each is one entry of a report.
    int readLayer(ConfigReader& c, Place place)
    {
        const auto layer = c.optionalInteger("layer", {0, kLayerRange.most - 1});
        c.require((place == Place::Layer) == layer.has_value(),
                  fmt::format("the key '{}layer' must be there if 'place' is layer, and only then; correct one of them", c.path()));
        if (!layer)
            return -1;
        c.require(*layer == m_lastLayer || *layer == m_lastLayer + 1,
                  fmt::format("the key '{}layer' is {} after layer {}; number the layers from 0 in execution order", c.path(), *layer,
                              m_lastLayer));
        m_lastLayer = *layer;
        return static_cast<int>(*layer);
    }

    /// "weights" lists parameters; without it, "parameters" gives their number.
    void readWeights(ConfigReader& c)
    {
        const auto count = c.optionalInteger("parameters", {0, kMostParameters});
        const auto weights = c.children("weights");
        for (auto weight : weights) {
            readWeight(weight);
            c.take(weight);
        }
        const auto& op = m_builder.model.operators.back();
        if (weights.empty() && count.value_or(0) > 0)
            m_builder.namedParameter(op.name + ".weight", {*count}, !c.has("trainable") || c.flagOr("trainable", true));
        else if (count && c.ok() && !m_builder.tooLarge())
            c.require(*count == op.parameterCount(),
                      fmt::format("the key '{}parameters' is {}, but the weights have {}; correct one of them", c.path(), *count,
                                  op.parameterCount()));
    }

    void readWeight(ConfigReader& c)
    {
        const auto shape = c.integers("shape");
        const auto bad = [](std::int64_t size) { return size < 1 || size > kMostParameters; };
        c.require(!shape.empty() && shape.size() <= kMostDimensions && std::none_of(shape.begin(), shape.end(), bad),
                  fmt::format("the key '{}shape' must list 1 to {} sizes of at least 1", c.path(), kMostDimensions));
        auto name = c.has("name") ? c.textOr("name", "") : "";
        c.require(!name.empty(), fmt::format("the key '{}name' is missing; name the parameter as in the checkpoint", c.path()));
        const bool trainable = !c.has("trainable") || c.flagOr("trainable", true);
        if (c.ok())
            m_builder.namedParameter(std::move(name), shape, trainable);
    }

    void checkSharing()
    {
        std::unordered_set<std::string_view> owners;
        for (const auto& op : m_builder.model.operators) {
            if (!op.sharesWith.empty())
                m_reader.require(owners.contains(op.sharesWith),
                                 fmt::format("the key 'shares_with' of '{}' names '{}', which is no operator before it; correct the name",
                                             op.name, op.sharesWith.substr(0, 80)));
            owners.insert(op.name);
        }
    }

    void checkTotals()
    {
        const auto given = m_reader.optionalInteger("parameters", {0, kMostParameters});
        if (given && m_reader.ok())
            m_reader.require(*given == m_builder.model.parameterCount(),
                             fmt::format("the key 'parameters' is {}, but the operators have {}; correct one of them", *given,
                                         m_builder.model.parameterCount()));
    }

    ConfigReader m_reader;
    ModelBuilder m_builder;
    std::unordered_set<std::string> m_names;
    std::int64_t m_lastLayer = -1;
};

} // namespace

Result<Model> readModelDocument(const Json& document, std::string_view origin)
{
    ConfigReader reader(document, std::string(origin));
    const auto format = reader.has("format") ? reader.textOr("format", "") : "";
    if (format != kModelFormat) {
        const bool other = format.starts_with(kFormatStart);
        reader.fail(
            other ? fmt::format("the format is '{}', but this version reads '{}'; use a newer Loadline", format.substr(0, 40), kModelFormat)
                  : fmt::format("the format is '{}', but a model has '{}'; give a model", format.substr(0, 40), kModelFormat));
        return *reader.problem();
    }
    return DocumentReader(document, origin).read();
}

} // namespace loadline
