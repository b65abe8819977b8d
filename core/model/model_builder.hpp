// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/description.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace loadline {

/// Model sizes end here: every count stays exact in a double, and no product overflows.
inline constexpr std::int64_t kMostParameters = 1LL << 53;

/// What a linear has beside its sizes.
struct LinearOptions {
    bool bias = false;
    bool conv1d = false; ///< GPT-2's Conv1D keeps the weight as [in, out]
    bool savesInput = false;
    bool castsInput = false;
};

/// Collects operators in execution order. Place, layer, part and token count are set once and hold for what follows.
class ModelBuilder {
public:
    Model model;

    void enter(Place place, int layer = -1);
    void part(std::string_view name) { m_part = name; }
    void tokens(TokenCount count) { m_tokens = count; }

    Operator& add(std::string name, Traits traits);
    /// Adds a parameter to the last operator; `suffix` follows the operator's name after a dot.
    void parameter(std::string_view suffix, std::vector<std::int64_t> shape);
    /// Adds one by its full name.
    void namedParameter(std::string name, std::vector<std::int64_t> shape, bool trainable = true);

    Operator& embedding(const std::string& name, std::int64_t rows, std::int64_t width, bool positions = false);
    Operator& linear(const std::string& name, std::int64_t in, std::int64_t out, LinearOptions options = {});
    Operator& norm(const std::string& name, NormTraits traits, bool bias);
    void dropout(const std::string& name, std::int64_t width, double probability);

    /// True once the model has grown beyond kMostParameters; then the model must not be used.
    [[nodiscard]] bool tooLarge() const { return m_count > kMostParameters; }

private:
    Place m_place = Place::Embedding;
    int m_layer = -1;
    std::string m_part;
    TokenCount m_tokens;
    std::int64_t m_count = 0;
};

} // namespace loadline
