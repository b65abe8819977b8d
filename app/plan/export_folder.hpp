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

/// Where an export of one file goes: `output` itself, or a file called `name` in it if it is a folder or ends like one, which is then made.
/// Errors: such a file is in that folder already (a bundle's plan.json, say), or the folder cannot be made.
Result<std::string> singleFile(const std::string& output, const std::string& name);

} // namespace loadline
