// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/profile.hpp"

#include "core/model/traits_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

namespace loadline {
namespace {

/// Fields that say what is saved or cast beside an operator, not how long it computes.
constexpr std::array<std::string_view, 8> kBeside{"saves_input", "casts_input", "readers",     "of_projection",
                                                  "output_read", "has_sdpa",    "probability", "dropout"};

/// Writes "name=value" for each field of an operator's traits, by the names that model files use.
class KeyWriter {
public:
    template <class Field, class... Bounds>
    void operator()(std::string_view name, const Field& field, const Bounds&...)
    {
        if (std::find(kBeside.begin(), kBeside.end(), name) == kBeside.end())
            m_text += fmt::format("{}{}={}", m_text.empty() ? "" : ",", name, valueText(field));
    }
    [[nodiscard]] const std::string& text() const { return m_text; }

private:
    template <class Field>
    static std::string valueText(const Field& field)
    {
        if constexpr (std::is_enum_v<Field>) {
            for (const auto& entry : fields::namesOf(field)) {
                if (entry.value == field)
                    return std::string(entry.name);
            }
            return {};
        } else if constexpr (std::is_same_v<Field, TokenCount>) {
            return fmt::format("{}/{}", field.fixed, field.most);
        } else {
            return fmt::format("{}", field);
        }
    }

    std::string m_text;
};

} // namespace

std::string operatorKey(const Operator& op)
{
    if (std::holds_alternative<CustomTraits>(op.traits))
        return {};
    KeyWriter writer;
    std::visit([&](const auto& traits) { fields::each(traits, writer); }, op.traits);
    return fmt::format("{}:{}", fields::kKinds.at(op.traits.index()), writer.text());
}

double operatorWork(const Operator& op, std::int64_t batch, std::int64_t sequence)
{
    const auto sequences = static_cast<double>(batch);
    if (const auto* convolution = std::get_if<ConvolutionTraits>(&op.traits))
        return sequences * static_cast<double>(convolution->outputs.of(sequence));
    const auto* attention = std::get_if<AttentionTraits>(&op.traits);
    if (attention == nullptr)
        return sequences * static_cast<double>(sequence);
    // Pairs of query and key; a window or another stream bounds the keys.
    double keys = attention->keys.fixed > 0 ? static_cast<double>(attention->keys.fixed) : static_cast<double>(sequence);
    if (attention->window > 0)
        keys = std::min(keys, static_cast<double>(attention->window));
    return sequences * static_cast<double>(sequence) * keys;
}

std::string_view attentionName(AttentionKind kind)
{
    switch (kind) {
    case AttentionKind::Auto:
        return "auto";
    case AttentionKind::Flash:
        return "flash";
    case AttentionKind::Efficient:
        return "efficient";
    case AttentionKind::Math:
        return "math";
    case AttentionKind::Eager:
        return "eager";
    }
    return "auto";
}

std::string_view collectiveName(Collective collective)
{
    switch (collective) {
    case Collective::AllGather:
        return "all_gather";
    case Collective::ReduceScatter:
        return "reduce_scatter";
    case Collective::AllReduce:
        return "all_reduce";
    }
    return "all_gather";
}

} // namespace loadline
