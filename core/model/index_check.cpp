// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/index_check.hpp"

#include "core/base/json.hpp"
#include "core/model/config_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_set>

namespace loadline {
namespace {

constexpr double kMostBytes = 1e17;

/// What the names of an index are, seen from the model.
struct Names {
    std::int64_t rotaryBuffers = 0;
    std::int64_t maskBuffers = 0;
    std::int64_t otherBuffers = 0;
    std::string buffer; ///< one of them
    std::vector<std::string> tied;
    std::vector<std::string> unknown;
    std::vector<std::string> missing;
    std::int64_t tiedParameters = 0;
    bool listed = false; ///< there was a weight_map at all
};

bool endsWithAny(std::string_view name, std::initializer_list<std::string_view> ends)
{
    return std::any_of(ends.begin(), ends.end(), [&](auto end) { return name.ends_with(end); });
}

bool isRotary(std::string_view name)
{
    return endsWithAny(name, {"rotary_emb.inv_freq"});
}
/// Causal masks that older versions kept in the checkpoint.
bool isMask(std::string_view name)
{
    return endsWithAny(name, {".attn.bias", ".attention.bias", ".attn.attention.bias"});
}
bool isOtherBuffer(std::string_view name)
{
    return endsWithAny(name, {".masked_bias", "position_ids", "final_logits_bias"});
}

/// "…experts.7.w1.weight": one expert of what the model keeps as one parameter.
bool isOneExpert(std::string_view name)
{
    const auto at = name.find(".experts.");
    return at != std::string_view::npos && at + 9 < name.size() && name[at + 9] >= '0' && name[at + 9] <= '9';
}

/// Names of the model as an index may have them: also without the leading "transformer." or "model.".
class KnownNames {
public:
    explicit KnownNames(const Model& model)
    {
        for (const auto& op : model.operators) {
            m_hasExperts = m_hasExperts || std::holds_alternative<ExpertsTraits>(op.traits);
            for (const auto& parameter : op.parameters)
                m_parameters.insert(parameter.name);
            if (!op.sharesWith.empty())
                m_tied.insert(op.name + ".weight");
        }
    }

    [[nodiscard]] std::optional<std::string> parameter(const std::string& name) const
    {
        for (const std::string_view prefix : {"", "transformer.", "model.", "bert.", "vit."})
            if (auto full = std::string(prefix) + name; m_parameters.contains(full))
                return full;
        return std::nullopt;
    }
    [[nodiscard]] bool tied(const std::string& name) const { return m_tied.contains(name); }
    [[nodiscard]] bool hasExperts() const { return m_hasExperts; }
    [[nodiscard]] const std::unordered_set<std::string>& parameters() const { return m_parameters; }

private:
    std::unordered_set<std::string> m_parameters;
    std::unordered_set<std::string> m_tied;
    bool m_hasExperts = false;
};

std::int64_t ownerCount(const Model& model, const std::string& tiedName)
{
    for (const auto& op : model.operators) {
        if (op.sharesWith.empty() || op.name + ".weight" != tiedName)
            continue;
        for (const auto& owner : model.operators)
            if (owner.name == op.sharesWith && !owner.parameters.empty())
                return owner.parameters.front().count();
    }
    return 0;
}

void countBuffer(const std::string& name, Names& names)
{
    if (isRotary(name))
        ++names.rotaryBuffers;
    else if (isMask(name))
        ++names.maskBuffers;
    else
        ++names.otherBuffers;
    if (names.buffer.empty())
        names.buffer = name;
}

Names sortNames(const Model& model, const Json& weightMap)
{
    Names names;
    names.listed = true;
    const KnownNames known(model);
    std::unordered_set<std::string> found;
    bool splitExperts = false;
    for (const auto& [name, file] : weightMap.items()) {
        if (auto full = known.parameter(name))
            found.insert(std::move(*full));
        else if (known.tied(name)) {
            names.tied.push_back(name);
            names.tiedParameters += ownerCount(model, name);
        } else if (isRotary(name) || isMask(name) || isOtherBuffer(name))
            countBuffer(name, names);
        else if (known.hasExperts() && isOneExpert(name))
            splitExperts = true;
        else
            names.unknown.push_back(name);
    }
    for (const auto& op : model.operators)
        for (const auto& parameter : op.parameters)
            if (!found.contains(parameter.name) && !(splitExperts && std::holds_alternative<ExpertsTraits>(op.traits)))
                names.missing.push_back(parameter.name);
    return names;
}

/// Bytes of the buffers that an index counts with tensors of `width` bytes. Masks are booleans, which the tool that writes
/// the index counts as an eighth of a byte.
double bufferBytes(const Model& model, const Names& names, double width)
{
    double rotary = 0;
    for (const auto& op : model.operators)
        if (const auto* attention = std::get_if<AttentionTraits>(&op.traits); attention != nullptr && rotary == 0)
            rotary = static_cast<double>(attention->rotaryDim) / 2;
    const auto sequence = static_cast<double>(model.defaultSequence);
    return static_cast<double>(names.rotaryBuffers) * rotary * width + static_cast<double>(names.maskBuffers) * sequence * sequence / 8 +
           static_cast<double>(names.otherBuffers) * width;
}

/// Parameters that a count would have too many if it overlooked that keys and values have fewer heads.
double forgottenKeyHeads(const Model& model)
{
    double extra = 0;
    for (const auto& op : model.operators)
        if (const auto* attention = std::get_if<AttentionTraits>(&op.traits))
            extra += 2.0 * static_cast<double>(attention->heads - attention->kvHeads) * static_cast<double>(attention->headDim) *
                     static_cast<double>(model.hidden);
    return extra;
}

constexpr std::array<double, 3> kWidths{2, 4, 1};

/// Bytes by the model, for the element width that comes nearest to `total`.
struct Expected {
    double bytes = 0;
    double width = 0;
};

Expected nearest(const Model& model, const Names& names, double total)
{
    const auto parameters = static_cast<double>(model.parameterCount() + names.tiedParameters);
    Expected best;
    for (const double width : kWidths) {
        const double bytes = parameters * width + bufferBytes(model, names, width);
        if (best.width == 0 || std::abs(bytes - total) < std::abs(best.bytes - total))
            best = {bytes, width};
    }
    return best;
}

void compareBytes(const Model& model, const Names& names, double total, std::string_view origin, std::vector<std::string>& out)
{
    const auto expected = nearest(model, names, total);
    const double difference = total - expected.bytes;
    if (std::abs(difference) < 1)
        return;
    auto sentence =
        fmt::format("{} says {:.0f} bytes, but {} parameters of {:.0f} bytes{} make {:.0f}: {:.0f} bytes too {}", origin, total,
                    model.parameterCount() + names.tiedParameters, expected.width, names.buffer.empty() ? "" : " and the buffers",
                    expected.bytes, std::abs(difference), difference > 0 ? "many" : "few");
    if (const double extra = forgottenKeyHeads(model) * expected.width; extra > 0 && std::abs(difference - extra) < 1)
        sentence += ", as if num_key_value_heads had been overlooked";
    out.push_back(sentence + ".");
}

std::string someNames(const std::vector<std::string>& names)
{
    return fmt::format("'{}'{}", names.front().substr(0, 120), names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "");
}

void compareNames(const Names& names, std::string_view origin, std::vector<std::string>& out)
{
    const auto buffers = names.rotaryBuffers + names.maskBuffers + names.otherBuffers;
    if (buffers > 0)
        out.push_back(
            fmt::format("{} lists {} buffers beside the parameters (rotary frequencies, masks), such as '{}'; they are not trained "
                        "and not counted.",
                        origin, buffers, names.buffer));
    if (!names.tied.empty())
        out.push_back(fmt::format("{} keeps the tied {} a second time; it is counted once.", origin, someNames(names.tied)));
    if (!names.missing.empty())
        out.push_back(fmt::format("{} lacks {}, which the configuration asks for.", origin, someNames(names.missing)));
    if (!names.unknown.empty())
        out.push_back(fmt::format("{} has {}, which the configuration does not ask for.", origin, someNames(names.unknown)));
}

} // namespace

Result<std::vector<std::string>> checkIndex(const Model& model, std::string_view text, std::string_view origin)
{
    const auto parsed = parseJson(text, origin, JsonDialect::Python);
    if (!parsed)
        return parsed.error();
    const Json& index = *parsed;
    if (!index.is_object())
        return invalidInput(fmt::format("{}: an index is a JSON object with 'metadata' and 'weight_map'; give one", origin));
    ConfigReader reader(index, std::string(origin));
    auto metadata = reader.child("metadata");
    std::optional<double> total;
    if (metadata.has("total_size"))
        total = metadata.numberOr("total_size", 0, 0, kMostBytes);
    reader.take(metadata);
    const auto weightMap = index.find("weight_map");
    const bool hasNames = weightMap != index.end() && !weightMap->is_null();
    if (hasNames && !weightMap->is_object())
        reader.fail("the key 'weight_map' must be an object of names and files");
    if (!total && !hasNames)
        reader.fail("the keys 'metadata.total_size' and 'weight_map' are both missing; give an index of a checkpoint");
    if (!reader.ok())
        return *reader.problem();

    std::vector<std::string> sentences;
    const Names names = hasNames ? sortNames(model, *weightMap) : Names{};
    compareNames(names, origin, sentences);
    if (total)
        compareBytes(model, names, *total, origin, sentences);
    return sentences;
}

} // namespace loadline
