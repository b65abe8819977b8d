// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/export/exported.hpp"

#include <optional>
#include <string>
#include <vector>

namespace loadline {

/// Writes the files into `folder`, which is made if it is not there. Errors, before anything is written: something else than a folder
/// has the name, or the folder has files and is no bundle of ours. Each file is written whole or not at all.
std::optional<Error> writeExport(const std::string& folder, const std::vector<ExportedFile>& files);

} // namespace loadline
