// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/plan/verbs.hpp"
#include "core/exchange/plan_document.hpp"
#include "core/store/store.hpp"

namespace loadline {

/// --store, else LOADLINE_STORE, else $XDG_DATA_HOME/loadline/loadline.db (~/.local/share if that is not set).
Result<std::string> storePath(const Arguments& arguments);

/// Opens it, making it if it is not there; what a person should know about that goes to `words`.
Result<Store> openStore(const Arguments& arguments, std::vector<std::string>& words);

/// The plan in a file or, if there is no such file, of a session of that name or number, which `session` then is.
Result<SavedPlan> loadPlanOrSession(const std::string& fileOrSession, const Arguments& arguments, std::vector<std::string>& words,
                                    SessionId* session = nullptr);

/// Keeps an imported run with its session. Returns a sentence.
Result<std::string> saveImportedRun(const Arguments& arguments, RunRecord run, const std::vector<StepMetric>& metrics);

/// Saves the answer as a session: the one of that name, or a new one. Returns a sentence.
Result<std::string> saveAsSession(const Arguments& arguments, const PlanDocument& document, std::vector<std::string>& words);

/// Seconds since 1970, now.
UnixTime unixNow();
/// "2026-12-01 10:30" in UTC.
std::string dateText(UnixTime time);

} // namespace loadline
