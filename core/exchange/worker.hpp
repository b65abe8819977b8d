// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/cost/timeline.hpp"
#include "core/cost/traffic.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// What `loadline-device` is asked and answers, as values (docs/protocol.md). Both sides use it; no process is started here.
namespace loadline {

inline constexpr int kWorkerProtocol = 1;

using Versions = std::vector<std::pair<std::string, std::string>>;

// --- events, one JSON line each ---------------------------------------------------------------------------------

struct WorkerHello {
    int protocol = kWorkerProtocol;
    std::string version;
};

struct WorkerProgress {
    std::int64_t done = 0;
    std::int64_t total = 0;
    std::string what;
    std::optional<Seconds> left;
};

struct WorkerDevice {
    std::string kind; ///< "cpu", "cuda"
    int index = 0;
    std::string name;
    Bytes memory;
    Bytes free;
    std::string driver;
    int threads = 1;
    Versions versions;
};

enum class RankState { Starting, Ready, Done, Died };
struct WorkerRank {
    int rank = 0;
    RankState state = RankState::Starting;
    std::int64_t pid = 0;
    std::string why; ///< of Died
};

struct WorkerStep {
    int rank = 0;
    std::int64_t step = 0; ///< from 1
    double loss = 0;       ///< of this rank's sequences
    Seconds seconds;
    Seconds forward;  ///< computing alone
    Seconds backward; ///< likewise; recomputation included
    Seconds optimizer;
    Seconds exposed; ///< waited for communication
    Bytes peak;      ///< allocated, in this step
    Bytes reserved;  ///< held by the caching allocator; 0 on CPU
    Traffic traffic; ///< counted by the rank, call by call
};

struct WorkerTimeline {
    int rank = 0;
    std::vector<TimelineEvent> events; ///< as `playTimeline` predicts them
};

struct WorkerUnit {
    int rank = 0;
    std::size_t unit = 0; ///< index in CostTable::units
    Seconds forward;
    Seconds backward;
    Seconds gather;
    Seconds reduce;
};

enum class RunOutcome { Done, OutOfMemory, RankDied, TimedOut, Cancelled, Failed };
std::string_view runOutcomeWord(RunOutcome outcome); ///< "done", "out_of_memory", ...
Result<RunOutcome> runOutcomeOf(std::string_view word);

struct WorkerResult {
    RunOutcome outcome = RunOutcome::Done;
    std::string why;                     ///< unless Done: one sentence
    std::vector<double> losses;          ///< mean over the global batch, one a step
    std::vector<double> unshardedLosses; ///< of one process on the same batch; empty if not asked for
};

/// A line of a profile, as it stands (docs/profile-format.md).
struct WorkerProfileLine {
    std::string line;
};

using WorkerEvent = std::variant<WorkerHello, WorkerProgress, WorkerDevice, WorkerRank, WorkerStep, WorkerTimeline, WorkerUnit,
                                 WorkerResult, WorkerProfileLine>;

/// One line without its end. Numbers that are not finite become null.
std::string writeEvent(const WorkerEvent& event);

/// Reads one line. Empty: an event of a newer device, to be skipped. Errors: not JSON, a wrong type, a hello of another protocol;
/// each names the key. Any bytes are safe. Thread-safe.
Result<std::optional<WorkerEvent>> readEvent(std::string_view line);

// --- requests ----------------------------------------------------------------------------------------------------

struct ProfileRequest {
    Model model;
    std::string device = "cpu";
    int ranks = 4;                               ///< processes that run at once, as the run will have
    std::vector<std::string> precisions{"fp32"}; ///< computeModeName
    std::vector<std::int64_t> batches{1, 2, 4};
    std::vector<std::int64_t> sequences{128};
    std::vector<int> granularities{1, 2, 4};
    std::string optimizer = "adamw";
    Seconds limit{60};
};

struct LinksRequest {
    std::string device = "cpu";
    int ranks = 4;
    std::vector<std::int64_t> groups; ///< empty: every divisor of `ranks` from 2
    Bytes least{1024};
    Bytes most{std::int64_t{1} << 30};
    Seconds limit{30};
};

struct TrainRequest {
    std::string plan; ///< a "loadline.plan/1" document
    std::string device = "cpu";
    std::int64_t steps = 20;
    std::uint64_t seed = 1;
    std::string data = "random"; ///< or a file whose bytes are the tokens
    double learningRate = 1e-3;
    double clip = 0; ///< global norm; 0: not clipped
    Seconds timeout{60};
    std::string save;
    std::int64_t saveStep = 0; ///< after which to save; 0: the last one
    std::string resume;
    bool compareUnsharded = true; ///< also trains one process on the same batches
};

std::string writeRequest(const ProfileRequest& request);
std::string writeRequest(const LinksRequest& request);
std::string writeRequest(const TrainRequest& request);
Result<ProfileRequest> readProfileRequest(std::string_view text);
Result<LinksRequest> readLinksRequest(std::string_view text);
Result<TrainRequest> readTrainRequest(std::string_view text);

} // namespace loadline
