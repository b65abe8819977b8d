// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace loadline {

/// Row of a session in its file; 0: not stored yet.
using SessionId = std::int64_t;
using RunId = std::int64_t;

/// Seconds since 1970 in UTC. The store has no clock: the caller says when something happened.
using UnixTime = std::int64_t;

/// A session as a list shows it: no documents, so that a thousand of them are read in milliseconds.
struct SessionRow {
    SessionId id = 0;
    std::string name;
    std::string model;
    std::string cluster;
    std::optional<Bytes> budget;
    std::optional<Seconds> step;         ///< predicted by its plan; empty: nothing fits, or not planned yet
    std::optional<double> measuredError; ///< (measured - predicted) / predicted step time of its newest measured run; the store fills it
    UnixTime created = 0;
    UnixTime modified = 0;
    std::optional<UnixTime> removed; ///< when it was deleted, until it is restored or purged
    std::vector<std::string> tags;   ///< sorted
    std::string notes;
    std::int64_t revision = 0; ///< grows with every save; see Store::saveSession
    friend bool operator==(const SessionRow&, const SessionRow&) = default;
};

/// A session whole. Documents are texts in the formats of docs/formats.md; the store keeps them and does not look inside.
struct SessionRecord {
    SessionRow row;
    std::string options = "{}";          ///< the question: request options as JSON
    std::string model;                   ///< "loadline.model/1"; may be empty
    std::string cluster;                 ///< "loadline.cluster/1"; may be empty
    std::string plan;                    ///< "loadline.plan/1"; empty: not planned yet
    std::optional<std::int64_t> profile; ///< that its times come from
    std::string undo;                    ///< undo history, as the window writes it
    std::string window;                  ///< open pages, selection, docks
    friend bool operator==(const SessionRecord&, const SessionRecord&) = default;
};

/// Which sessions a list shows.
struct SessionFilter {
    std::string words = {}; ///< each must stand in name, model, cluster, notes or a tag; letters in any case
    std::string tag = {};   ///< empty: any
    bool removed = false;   ///< the deleted ones instead
    std::optional<std::int64_t> most = {};
};

/// Measured on a device: times ("loadline.profile/1" lines), or links alone.
struct ProfileRecord {
    enum class Kind { Times, Links };
    std::int64_t id = 0;
    Kind kind = Kind::Times;
    std::string device;
    std::string driver;
    std::string versions; ///< JSON: of PyTorch, CUDA, NCCL and what else was in use
    UnixTime measured = 0;
    std::string document; ///< empty in a list
    friend bool operator==(const ProfileRecord&, const ProfileRecord&) = default;
};

/// A run of a plan: here (verification) or elsewhere (imported).
struct RunRecord {
    enum class Kind { Verification, Imported };
    RunId id = 0;
    SessionId session = 0;
    Kind kind = Kind::Verification;
    UnixTime started = 0;
    std::int64_t ranks = 0;
    std::string outcome; ///< word of the worker protocol ("done", "out_of_memory", ...); empty: under way, or it died with the program
    std::string why;     ///< unless done: one sentence
    std::optional<Seconds> predictedStep;
    std::optional<Seconds> measuredStep;
    std::optional<Bytes> predictedPeak;
    std::optional<Bytes> measuredPeak;
    std::string plan;   ///< "loadline.plan/1" that ran; empty in a list
    std::string result; ///< JSON: losses and what else the run reported; empty in a list
    friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

/// What one rank reports of one step. NaN losses and seconds read back as NaN.
struct StepMetric {
    std::int64_t step = 0; ///< from 1
    std::int64_t rank = 0;
    double loss = 0;
    Seconds seconds;
    Seconds forward;
    Seconds backward;
    Seconds optimizer;
    Seconds exposed;
    Bytes peak;     ///< allocated
    Bytes reserved; ///< held by the caching allocator; 0 on CPU
    Bytes allGather;
    Bytes reduceScatter;
    Bytes allReduce;
};

/// A stair that was computed for a session; `label` tells several apart (granularity, batch).
struct FrontierRecord {
    std::string label;
    std::string document; ///< JSON
    friend bool operator==(const FrontierRecord&, const FrontierRecord&) = default;
};

} // namespace loadline
