// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/export_folder.hpp"

#include "core/base/json.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace loadline {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t kMostHead = 64LL << 20;

/// A folder that an earlier export made: its plan.json says so.
bool isBundle(const fs::path& folder)
{
    const auto plan = readFile(folder / "plan.json", kMostHead);
    return plan && plan->find("\"loadline.bundle/") != std::string::npos;
}

} // namespace

std::optional<Error> writeExport(const std::string& folder, const std::vector<ExportedFile>& files)
{
    std::error_code code;
    const fs::path path(folder);
    if (fs::exists(path, code) && !fs::is_directory(path, code))
        return ioError(fmt::format("'{}' is a file; give --output a folder", folder));
    if (fs::is_directory(path, code) && !fs::is_empty(path, code) && !isBundle(path))
        return ioError(fmt::format("'{}' has files that are no bundle of Loadline's; give --output a new or empty folder", folder));
    fs::create_directories(path, code);
    if (code)
        return ioError(fmt::format("The folder '{}' cannot be made ({}); give --output another", folder, code.message()));
    for (const ExportedFile& file : files) {
        if (const auto written = writeFile(path / file.name, file.text); !written)
            return written.error();
        const auto extra = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
        if (file.executable)
            fs::permissions(path / file.name, extra, fs::perm_options::add, code);
    }
    return {};
}

Result<std::string> singleFile(const std::string& output, const std::string& name)
{
    std::error_code code;
    const fs::path path(output);
    if (path.has_filename() && !fs::is_directory(path, code))
        return output;
    fs::create_directories(path, code);
    if (code)
        return ioError(fmt::format("The folder '{}' cannot be made ({}); give --output another", output, code.message()));
    const fs::path file = path / name;
    if (fs::exists(file, code))
        return ioError(fmt::format("'{}' is there already; give --output a file's name or another folder", file.string()));
    return file.string();
}

} // namespace loadline
