// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.hpp"
#include "core/base/result.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// What a whole number in a configuration may be.
struct IntegerRange {
    std::int64_t least = 1;
    std::int64_t most = 1LL << 24;
};
inline constexpr IntegerRange kSizeRange{1, 1LL << 24};       ///< features, heads, experts
inline constexpr IntegerRange kVocabularyRange{1, 100000000}; ///< rows of an embedding
inline constexpr IntegerRange kLayerRange{1, 10000};
inline constexpr IntegerRange kTokenRange{1, 1LL << 31}; ///< positions, windows
inline constexpr IntegerRange kFromZero{0, 1LL << 24};

/// Reads the keys of a Hugging Face configuration. `keys` lists spellings, newest first, separated by spaces: the first
/// that is there and not null counts. The first mistake is kept, and a harmless value returned, so that a family reads
/// all its keys in one go and looks at `problem()` once. Values that were missing are kept for `defaultsNote()`.
class ConfigReader {
public:
    /// `object` must outlive the reader; `origin` names it in sentences ("'config.json'").
    /// `path` is put before a key in sentences ("operators[3].").
    ConfigReader(const Json& object, std::string origin, std::string path = {});

    [[nodiscard]] bool has(std::string_view keys) const { return find(keys).second != nullptr; }
    /// True if the key stands there at all, null included.
    [[nodiscard]] bool mentions(std::string_view key) const { return m_object->contains(key); }

    std::int64_t integer(std::string_view keys, IntegerRange range = kSizeRange);
    std::int64_t integerOr(std::string_view keys, std::int64_t fallback, IntegerRange range = kSizeRange);
    /// Null and missing both mean "none"; nothing is noted.
    std::optional<std::int64_t> optionalInteger(std::string_view keys, IntegerRange range = kSizeRange);
    bool flagOr(std::string_view keys, bool fallback);
    double numberOr(std::string_view keys, double fallback, double least = 0, double most = 1e6);
    double probabilityOr(std::string_view keys, double fallback) { return numberOr(keys, fallback, 0, 1); }
    /// A cap on scores: null means none (0), missing means the default.
    double capOr(std::string_view key, double fallback);
    std::string textOr(std::string_view keys, std::string_view fallback);
    /// Texts of a list; empty if missing or null.
    std::vector<std::string> texts(std::string_view key);
    std::vector<std::int64_t> integers(std::string_view key);
    /// Entries of a list or object; 0 if missing.
    [[nodiscard]] std::int64_t sizeOf(std::string_view key) const;
    /// GPT-Neo's [[["global", "local"], 12], ...]: the texts of each pair, repeated as often as its number says.
    std::vector<std::string> repeatedTexts(std::string_view key);
    /// A nested object, or an empty one; its mistakes and defaults are handed back by `take`.
    ConfigReader child(std::string_view key) const;
    void take(const ConfigReader& child);
    /// Objects of a list, e.g. operators; empty if missing or null.
    std::vector<ConfigReader> children(std::string_view key);

    /// Keeps `sentence` as the problem unless there is one already. `origin` is put in front.
    void fail(std::string_view sentence, ErrorCode code = ErrorCode::InvalidInput);
    void require(bool condition, std::string_view sentence);

    [[nodiscard]] const std::optional<Error>& problem() const { return m_problem; }
    [[nodiscard]] bool ok() const { return !m_problem.has_value(); }
    [[nodiscard]] const std::string& origin() const { return m_origin; }
    [[nodiscard]] const std::string& path() const { return m_path; }
    /// One sentence about the values that were not in the file; empty if all were.
    [[nodiscard]] std::string defaultsNote() const;
    [[nodiscard]] const std::vector<std::string>& notes() const { return m_notes; }

private:
    [[nodiscard]] std::pair<std::string, const Json*> find(std::string_view keys) const;
    std::int64_t checked(const std::string& key, const Json& value, IntegerRange range);
    void noteDefault(std::string_view keys, std::string_view value);
    void noteConflict(std::string_view keys);

    const Json* m_object;
    std::string m_origin;
    std::string m_path; ///< "text_config." in a nested object
    std::optional<Error> m_problem;
    std::vector<std::string> m_defaults;
    std::vector<std::string> m_notes;
};

} // namespace loadline
