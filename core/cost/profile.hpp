// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/cluster/recipe.hpp"
#include "core/cost/footprint.hpp"
#include "core/model/description.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace loadline {

/// Kind and sizes of an operator, e.g. "linear:in=4096,out=14336", in the words of model files: operators with one key cost the same and
/// are measured once. Empty for operators described by hand, which have their costs already.
std::string operatorKey(const Operator& op);

/// What one operator's time grows with at `batch` sequences of `sequence` tokens; FLOPs up to a factor of its own.
double operatorWork(const Operator& op, std::int64_t batch, std::int64_t sequence);

std::string_view attentionName(AttentionKind kind); ///< "auto", "flash", "efficient", "math", "eager"

/// Where and with what the figures were measured.
struct ProfileHeader {
    std::string device;
    std::string driver;
    std::string date; ///< ISO 8601, e.g. "2026-12-01"
    std::vector<std::pair<std::string, std::string>> versions;
    std::int64_t ranks = 1;
    friend bool operator==(const ProfileHeader&, const ProfileHeader&) = default;
};

/// One measurement of one operator: forward and backward of a micro-step on one rank.
struct OperatorRow {
    std::string key; ///< operatorKey
    ComputeMode precision = ComputeMode::Fp32;
    std::string attention;     ///< attention operators only: attentionName of the kernel that ran
    std::int64_t batch = 1;    ///< sequences
    std::int64_t sequence = 1; ///< tokens of one sequence that the operator saw
    int slices = 1;
    bool outOfMemory = false; ///< then no figure below counts
    Seconds forward;          ///< median
    Seconds backward;         ///< median
    Seconds forwardSpread;    ///< between the quartiles
    Seconds backwardSpread;
    Bytes saved;                      ///< kept from forward to backward
    Bytes workspace;                  ///< most that was alive beyond it
    std::optional<Seconds> recompute; ///< what recomputing it adds to backward; empty: not measured, then `forward`
    Seconds accumulate;               ///< what adding its gradient to one that exists adds to backward
    int windows = 0;                  ///< of repetitions that were timed; 0: not told
    int outliers = 0;                 ///< of them, those further off than three times the spread
    friend bool operator==(const OperatorRow&, const OperatorRow&) = default;
};

/// One measurement of an optimizer: a step over the parameters that one rank stores of one unit.
struct StepRow {
    std::string optimizer; ///< OptimizerRecipe::name
    std::int64_t parameters = 1;
    Seconds seconds; ///< median
    Seconds spread{};
    friend bool operator==(const StepRow&, const StepRow&) = default;
};

enum class Collective { AllGather, ReduceScatter, AllReduce };
std::string_view collectiveName(Collective collective); ///< "all_gather", "reduce_scatter", "all_reduce"

/// One measurement of one collective.
struct LinkRow {
    Collective collective = Collective::AllGather;
    std::int64_t group = 2;   ///< ranks
    std::int64_t perNode = 2; ///< of them in each node
    Bytes bytes;              ///< of the whole array, not of a rank's part
    Seconds seconds;          ///< median over repetitions of the slowest rank
    Seconds spread{};         ///< between the quartiles
    friend bool operator==(const LinkRow&, const LinkRow&) = default;
};

/// How much longer computing and one collective take while both run.
struct OverlapRow {
    Collective collective = Collective::AllGather;
    std::int64_t group = 2;
    std::int64_t perNode = 2;
    Bytes bytes;         ///< of the whole array
    double compute = 1;  ///< time of computing beside the collective / time alone
    double transfer = 1; ///< the other way round
    friend bool operator==(const OverlapRow&, const OverlapRow&) = default;
};

/// Slow-downs of the two streams while both run; 1/compute + 1/transfer >= 1.
struct OverlapFactors {
    double compute = 1;
    double transfer = 1;
    friend bool operator==(const OverlapFactors&, const OverlapFactors&) = default;
};

/// One size of a measured curve.
struct LinkPoint {
    Bytes bytes;
    Seconds seconds;
    friend bool operator==(const LinkPoint&, const LinkPoint&) = default;
};

/// What is known of an operator at the wanted size.
struct ProfiledTime {
    Seconds forward;
    Seconds backward;
    Seconds recompute;         ///< `forward` where it was not measured
    Seconds accumulate;        ///< 0 where it was not measured
    bool extrapolated = false; ///< beyond the measured sizes, or at or above one that ran out of memory
};

/// Measured costs that replace estimates. Immutable; any number of threads may read one.
class Profile {
public:
    Profile(ProfileHeader header, std::vector<OperatorRow> operators, std::vector<LinkRow> links, std::vector<OverlapRow> overlaps = {},
            std::vector<StepRow> steps = {});

    /// Time of `op` at the batch, sequence (of the run), precision and attention of `settings`, cut in `slices`; empty if
    /// it was never measured so. Between two measured sizes it is interpolated linearly in operatorWork, beyond them
    /// scaled by it. Attention measured at other sequence lengths only is scaled from the nearest one and extrapolated.
    [[nodiscard]] std::optional<ProfiledTime> time(const Operator& op, const ActivationSettings& settings, int slices) const;

    /// Seconds of one optimizer step over `parameters` that this rank stores of a unit; empty if this optimizer was not measured.
    /// Linear between measured sizes and from 0, at the rate of the largest size above it.
    [[nodiscard]] std::optional<Seconds> optimizer(const std::string& name, std::int64_t parameters) const;

    /// Seconds of a collective over `bytes`, or empty if this kind of group was not measured. Never falls as bytes grow:
    /// isotonic regression of the measured points, linear between them, constant below the least size and at the bandwidth
    /// of the largest size above it.
    [[nodiscard]] std::optional<Seconds> collective(Collective collective, std::int64_t group, std::int64_t perNode, Bytes bytes) const;

    /// The measured curve that `collective` looks up: the median of each size, made monotone; empty if not measured.
    [[nodiscard]] std::vector<LinkPoint> linkCurve(Collective collective, std::int64_t group, std::int64_t perNode) const;

    /// Slow-downs while computing and communication overlap: the median over the measured collectives, at least 1. Where both
    /// together would be slower than taking turns, (compute - 1) and (transfer - 1) are divided alike until they are as fast.
    /// Empty if not measured.
    [[nodiscard]] std::optional<OverlapFactors> overlap() const;

    /// "NVIDIA H100 80GB HBM3, driver 550.54, torch 2.11.0, 8 ranks, measured 2026-12-01"
    [[nodiscard]] std::string provenance() const;

    [[nodiscard]] const ProfileHeader& header() const { return m_header; }
    [[nodiscard]] const std::vector<OperatorRow>& operators() const { return m_operators; }
    [[nodiscard]] const std::vector<LinkRow>& links() const { return m_links; }
    [[nodiscard]] const std::vector<OverlapRow>& overlaps() const { return m_overlaps; }
    [[nodiscard]] const std::vector<StepRow>& steps() const { return m_steps; }
    friend bool operator==(const Profile& a, const Profile& b)
    {
        return a.m_header == b.m_header && a.m_operators == b.m_operators && a.m_links == b.m_links && a.m_overlaps == b.m_overlaps &&
               a.m_steps == b.m_steps;
    }

private:
    using OperatorId = std::tuple<std::string, ComputeMode, int, std::string>; ///< key, precision, slices, attention
    using LinkId = std::tuple<Collective, std::int64_t, std::int64_t>;
    using Curve = std::vector<std::pair<double, double>>; ///< bytes, seconds; both rise

    void buildCurves();

    ProfileHeader m_header;
    std::vector<OperatorRow> m_operators;
    std::vector<LinkRow> m_links;
    std::vector<OverlapRow> m_overlaps;
    std::vector<StepRow> m_steps;
    std::map<OperatorId, std::vector<std::size_t>> m_rowsOf;
    std::map<LinkId, Curve> m_curves;
    std::map<std::string, Curve> m_stepCurves; ///< by optimizer: parameters, seconds
};

/// Reads `.loadline-profile.jsonl`, format `loadline.profile/1` (docs/profile-format.md). Errors name `origin`, line and key.
Result<Profile> readProfile(std::string_view text, std::string_view origin);
Result<Profile> loadProfile(const std::string& path);
/// The same format; `readProfile(writeProfile(p))` equals `p`.
std::string writeProfile(const Profile& profile);
/// One line of it, with its end: for writing while measuring goes on.
std::string profileLine(const ProfileHeader& header);
std::string profileLine(const OperatorRow& row);
std::string profileLine(const LinkRow& row);
std::string profileLine(const OverlapRow& row);
std::string profileLine(const StepRow& row);

} // namespace loadline
