// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session/answer.hpp"
#include "core/exchange/options_json.hpp"
#include "core/exchange/plan_document.hpp"

#include <QString>

#include <string>
#include <variant>

namespace loadline {

/// A profile that can be planned with.
struct OpenedProfile {
    std::string path;
    std::shared_ptr<const Profile> profile;
};

/// What a file or bundled name turned out to be.
using Opened = std::variant<std::shared_ptr<const Model>, Cluster, SavedPlan, OpenedProfile>;

/// Reads a model, cluster, plan or profile: by what stands in the file, not by its name. Errors: one sentence with file and key.
/// Reads files; for a worker.
Result<Opened> openDocument(const std::string& fileOrName);

/// The question that a saved plan answers, to be asked anew. A cluster or profile that cannot be found by its name is written into
/// `folder` (made where it is missing). Errors: the file cannot be written. For a worker.
Result<Inputs> inputsOf(const SavedPlan& plan, const std::string& folder);

/// An answer as a document that stands alone: to save, to run, to compare.
PlanDocument documentOf(const PlanAnswer& answer);

/// Where this person's files lie: $XDG_DATA_HOME/loadline.
QString dataFolder();
/// Writes a file whole or not at all. Errors name the file.
Result<bool> writeWhole(const QString& file, const std::string& text);

} // namespace loadline
