// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/exchange/plan_document.hpp"
#include "core/export/exported.hpp"
#include "core/export/projection.hpp"

#include <string>
#include <string_view>

namespace loadline {

/// The plan as PyTorch 2.11's FSDP2 runs it: the same decisions under rule set "fsdp2", with the figures of that.
/// Errors: no plan in the document, and what FSDP2 cannot do (docs/export.md), one sentence each. Thread-safe.
Result<Projection> fsdp2Plan(const PlanDocument& document);

/// A folder that trains the plan: plan.json ("loadline.bundle/1", docs/export.md), apply_plan.py, train.py, checkpoint.py, run.sh,
/// job.sbatch, README.md and, if `config` is not empty, the model's config.json as it was read. Errors: as fsdp2Plan, and a
/// `config` that is not of the plan's model.
Result<Exported> fsdp2Bundle(const PlanDocument& document, std::string_view config);

} // namespace loadline
