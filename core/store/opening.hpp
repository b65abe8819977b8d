// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/store/database.hpp"
#include "core/store/store.hpp"

#include <span>

namespace loadline {

/// A store that is fit for use.
struct OpenedStore {
    Database database;
    bool readOnly = false;
    std::vector<std::string> notices;
};

/// What Store::open does, with the schema's steps as an argument so that tests can bring a file to versions that are not there yet.
Result<OpenedStore> openStoreFile(const std::filesystem::path& path, const StoreOptions& options, std::span<const std::string_view> steps);

/// Runs the steps from `version` on in the open transaction and notes the new version in the file.
std::optional<Error> runSchemaSteps(Database& database, std::int64_t version, std::span<const std::string_view> steps);

/// Copies the whole database to a new file and syncs it; `target` appears only when it is whole.
std::optional<Error> copyDatabase(Database& database, const std::filesystem::path& target, const char* vfs);

/// Sets the damaged file at `path` aside and puts a new one there with every row that can still be read. Returns a sentence on what
/// was kept. Can be interrupted at any moment: see finishRescue and the crash table in docs/store.md.
Result<std::string> rescueStore(const std::filesystem::path& path, const StoreOptions& options, std::span<const std::string_view> steps);

/// Ends a rescue that was interrupted between its two renames.
std::optional<Error> finishRescue(const std::filesystem::path& path);

} // namespace loadline
