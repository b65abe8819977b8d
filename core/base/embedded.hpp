// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string_view>

namespace loadline {

/// A resource that the build put into the program (packaging/cmake/embed.cmake).
struct EmbeddedFile {
    std::string_view name; ///< file name with suffix
    std::string_view text;
};

} // namespace loadline
