// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/plan/planner.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace loadline {

/// A question as a person writes it: the flags of every verb and the fields of the window, each with its default.
/// Empty texts and numbers mean "not given".
struct RequestOptions {
    std::string model = "llama3-8b";   ///< file or bundled name
    std::string lora;                  ///< "rank=16,targets=q_proj:v_proj"
    std::string cluster = "8xH100-80"; ///< file or bundled name
    std::optional<std::int64_t> nodes; ///< empty: the cluster's own
    std::optional<std::int64_t> gpusPerNode;
    std::string budget = "90%";           ///< of the device's memory
    std::optional<std::int64_t> sequence; ///< empty: the model's own
    std::string batch = "auto";
    std::string accumulation; ///< empty: 1, or auto when a global batch is given
    std::optional<std::int64_t> globalBatch;
    std::string granularity = "1,2,4,8";
    std::string groups = "auto";    ///< 1, GPUs per node, all ranks
    std::string recompute = "auto"; ///< whole blocks; or off, all, attention, mlp, parts
    std::string unit = "operator";
    std::string precision = "bf16-mixed"; ///< name or file
    std::string attention = "auto";
    std::string dropout = "config";
    std::string optimizer = "adamw"; ///< name or file
    std::string overhead;            ///< empty: the device's own
    std::string memory = "timeline";
    std::string time = "serial";
    std::string runtime = "loadline";
    std::string profile;           ///< file; empty: compute times are estimated
    std::vector<std::string> pins; ///< "PATTERN=STRATEGY"
    std::optional<std::int64_t> work;
};

/// Where the inputs of a plan come from, as shown and saved with it.
struct Provenance {
    std::string model;
    std::string cluster;
    std::string profile; ///< "estimated", or the file and its date
    friend bool operator==(const Provenance&, const Provenance&) = default;
};

/// The same question in the core's own terms.
struct ResolvedRequest {
    PlanRequest request;
    Provenance provenance;
};

/// Reads every file and name that `options` mentions and checks every value. With a batch or accumulation of "auto" the
/// setup's own stands at 1 and the request says to choose. Errors name the flag, its value and what it may be.
/// Thread-safe; reads files.
Result<ResolvedRequest> resolveRequest(const RequestOptions& options);

/// The same with a model that was read before; `options.model` and `options.lora` are not looked at.
Result<ResolvedRequest> resolveRequest(const RequestOptions& options, std::shared_ptr<const Model> model);

// The parts, for callers that hold a part already (the window, the plan reader). Errors as above.
Result<Cluster> resolveCluster(const RequestOptions& options);
Result<std::vector<Pin>> resolvePins(const std::vector<std::string>& pins);
Result<RuntimeRules> resolveRuntime(const std::string& name);

/// The rule sets, recompute words and unit kinds by their flag words; a plan document uses the same ones.
std::string_view unitWord(UnitKind unit);
std::string_view memoryWord(MemoryMode mode);
std::string_view timeWord(TimeMode mode);
std::string_view attentionWord(AttentionKind kind);
std::string_view recomputedPartWord(RecomputedPart part);
Result<RecomputedPart> resolveRecomputedPart(const std::string& word);
Result<UnitKind> resolveUnit(const std::string& word);
Result<MemoryMode> resolveMemory(const std::string& word);
Result<TimeMode> resolveTime(const std::string& word);
Result<AttentionKind> resolveAttention(const std::string& word);

} // namespace loadline
