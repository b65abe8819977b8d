// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/exchange/worker.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

/// The words of the worker protocol for values of a fixed set; for its reader and its writer.
namespace loadline::worker_words {

template <class Value>
using Word = std::pair<std::string_view, Value>;

inline constexpr std::array kStates{Word<RankState>{"starting", RankState::Starting}, Word<RankState>{"ready", RankState::Ready},
                                    Word<RankState>{"done", RankState::Done}, Word<RankState>{"died", RankState::Died}};
inline constexpr std::array kPhases{Word<Phase>{"forward", Phase::Forward}, Word<Phase>{"recompute", Phase::Recompute},
                                    Word<Phase>{"backward", Phase::Backward}, Word<Phase>{"step", Phase::Step}};
inline constexpr std::array kOutcomes{
    Word<RunOutcome>{"done", RunOutcome::Done},           Word<RunOutcome>{"out_of_memory", RunOutcome::OutOfMemory},
    Word<RunOutcome>{"rank_died", RunOutcome::RankDied},  Word<RunOutcome>{"timed_out", RunOutcome::TimedOut},
    Word<RunOutcome>{"cancelled", RunOutcome::Cancelled}, Word<RunOutcome>{"failed", RunOutcome::Failed}};

template <class Value, std::size_t N>
std::string_view wordOf(const std::array<Word<Value>, N>& words, Value value)
{
    for (const auto& [word, meaning] : words)
        if (meaning == value)
            return word;
    return words.front().first;
}

template <class Value, std::size_t N>
std::optional<Value> valueOf(const std::array<Word<Value>, N>& words, std::string_view word)
{
    for (const auto& [known, meaning] : words)
        if (known == word)
            return meaning;
    return std::nullopt;
}

} // namespace loadline::worker_words
