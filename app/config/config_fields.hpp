// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// What one reading found wrong or worth saying. The first problem stands; the rest follows from it.
struct ReadLog {
    std::string_view origin;
    std::string problem;
    std::vector<std::string> notes;
};

/// One object of a configuration with typed access by key. A missing key and null are "not stated"; a value of the
/// wrong type goes into the log as a problem; the word "auto" counts as not stated (`isAuto` tells).
class ConfigFields {
public:
    ConfigFields(const Json* object, std::string path, ReadLog& log);

    [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
    [[nodiscard]] std::optional<std::int64_t> whole(std::string_view key, std::int64_t least, std::int64_t most) const;
    [[nodiscard]] std::optional<double> number(std::string_view key) const;
    [[nodiscard]] std::optional<bool> truth(std::string_view key) const;
    [[nodiscard]] std::optional<std::string> word(std::string_view key) const;
    /// A number or truth value as the word it is written with; lower case only for truth values. Empty: not stated.
    [[nodiscard]] std::string wholeOrWord(std::string_view key) const;
    [[nodiscard]] ConfigFields object(std::string_view key) const; ///< of no keys if it is missing
    [[nodiscard]] bool isAuto(std::string_view key) const;

    void note(std::string text) const;
    void refuse(std::string_view key, std::string_view why) const;

private:
    [[nodiscard]] const Json* find(std::string_view key) const;
    [[nodiscard]] std::string name(std::string_view key) const;

    const Json* m_object; ///< null: no keys
    std::string m_path;
    ReadLog* m_log;
};

} // namespace loadline
