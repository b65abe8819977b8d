// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace loadline {

/// One file of an export, not yet written anywhere.
struct ExportedFile {
    std::string name; ///< inside the folder
    std::string text;
    bool executable = false;
};

/// What an export comes to.
struct Exported {
    std::vector<ExportedFile> files;
    std::vector<std::string> notes; ///< one sentence each: what the format cannot say, and what that costs
};

} // namespace loadline
