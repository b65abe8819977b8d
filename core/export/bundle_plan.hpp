// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/exchange/plan_document.hpp"

#include <string>

namespace loadline {

/// The text of plan.json ("loadline.bundle/1", docs/export.md) for a plan under rule set "fsdp2". Errors: a layer that has no
/// module of its own to recompute.
Result<std::string> bundlePlanJson(const Plan& plan, const Provenance& provenance, bool withConfig);

} // namespace loadline
