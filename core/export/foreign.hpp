// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/exchange/plan_document.hpp"
#include "core/export/exported.hpp"

#include <string_view>

namespace loadline {

/// The plan in another program's configuration, as near as that can say it: of what the format offers, the choice that fits the budget and
/// is fastest, else the one with the least peak. The notes name what it cannot say, and what all of that costs in bytes and seconds by our
/// cost model. `plan` is what was written: `price --config` of the file gives the same figures.
struct ForeignExport {
    Exported exported;
    Plan plan;
};

/// DeepSpeed JSON: ZeRO stage 0, stage 3 with a persistence threshold, or MiCS over a shard group.
Result<ForeignExport> deepspeedExport(const PlanDocument& document);

/// Accelerate YAML: DDP, or FSDP2 that shards every block the same way over all ranks or over groups.
Result<ForeignExport> accelerateExport(const PlanDocument& document);

/// Galvatron JSON: each layer data-parallel or ZeRO-3, recomputed or not.
Result<ForeignExport> galvatronExport(const PlanDocument& document);

} // namespace loadline
