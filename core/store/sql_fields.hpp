// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"
#include "core/store/database.hpp"

#include <optional>

namespace loadline {

// Between columns that may be NULL and the units of the surface.

inline SqlValue valueOf(const std::optional<Seconds>& seconds)
{
    return seconds ? SqlValue(seconds->value()) : SqlValue();
}
inline SqlValue valueOf(const std::optional<Bytes>& bytes)
{
    return bytes ? SqlValue(bytes->count()) : SqlValue();
}
inline SqlValue valueOf(const std::optional<std::int64_t>& number)
{
    return number ? SqlValue(*number) : SqlValue();
}
inline std::optional<Seconds> secondsAt(const SqlRow& row, int column)
{
    return row.isNull(column) ? std::nullopt : std::optional(Seconds(row.real(column)));
}
inline std::optional<Bytes> bytesAt(const SqlRow& row, int column)
{
    return row.isNull(column) ? std::nullopt : std::optional(Bytes(row.integer(column)));
}
inline std::optional<std::int64_t> integerAt(const SqlRow& row, int column)
{
    return row.isNull(column) ? std::nullopt : std::optional(row.integer(column));
}

} // namespace loadline
