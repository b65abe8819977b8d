// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.hpp"
#include "core/base/result.hpp"
#include "core/base/units.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// Reads the keys of one JSON object strictly: each getter checks type and bounds, and the first fault is kept as the
/// one sentence that names origin, key and bound. After a fault getters return their least value, so a reader is a
/// plain list of getters and one look at `fault()` at its end. Unknown keys are faults too: they are misspellings.
class Fields {
public:
    Fields(const Json& object, std::string origin);

    double number(std::string_view key, double least, double most);
    double number(std::string_view key, double least, double most, double fallback);
    std::int64_t whole(std::string_view key, std::int64_t least, std::int64_t most);
    std::int64_t whole(std::string_view key, std::int64_t least, std::int64_t most, std::int64_t fallback);
    /// A number of bytes, or text such as "79.6GiB".
    Bytes bytes(std::string_view key, Bytes least, Bytes most);
    std::string text(std::string_view key);
    std::string text(std::string_view key, std::string_view fallback);
    bool flag(std::string_view key, bool fallback);
    /// The object under `key`; faults inside it must be taken over with `adopt`.
    Fields object(std::string_view key);
    /// The array under `key`, of at most `most` entries; an empty one if there is none, or where it is a fault.
    const Json& list(std::string_view key, std::size_t most);
    /// Whole numbers of an array of at most 64, each in bounds; `fallback` if there is none.
    std::vector<std::int64_t> wholes(std::string_view key, std::int64_t least, std::int64_t most, std::vector<std::int64_t> fallback);
    [[nodiscard]] bool has(std::string_view key) const;

    void adopt(const Fields& inner);
    void fail(std::string_view key, std::string_view what);
    void refuseUnknown(); ///< call last
    [[nodiscard]] const std::optional<Error>& fault() const { return m_fault; }

private:
    const Json* find(std::string_view key, bool required);

    const Json* m_object;
    std::string m_origin;
    std::string m_path; ///< "device." inside the object `device`
    std::set<std::string, std::less<>> m_known;
    std::optional<Error> m_fault;
};

/// Parses `text` and checks that its "format" is `loadline.<kind>/<version up to newest>`.
Result<Json> parseFormat(std::string_view text, std::string_view origin, std::string_view kind, int newest);

/// The same check on a document that is already parsed; names `origin` in its error.
std::optional<Error> checkFormat(const Json& document, std::string_view origin, std::string_view kind, int newest);

} // namespace loadline
