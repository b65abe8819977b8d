// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace loadline {

struct Batch {
    at::Tensor tokens;  ///< [sequences, tokens], int64
    at::Tensor targets; ///< the same shape; -100: not counted
    at::Tensor labels;  ///< [sequences], int64; undefined where the model does not judge whole sequences
};

/// What is to be told of a sequence.
struct Task {
    std::int64_t vocabulary = 0;
    std::int64_t tokens = 0; ///< of one sequence
    bool masked = false;     ///< BERT's task, with every seventh token hidden; else the next token is to be told
    std::int64_t labels = 0; ///< classes of a whole sequence; 0: none. Two: whether its second half goes on where the first half ends
};

/// Sequences by number: sequence s of step t is the same whatever the plan and the number of ranks.
class Data {
public:
    /// `source`: "random", or a file whose bytes are the tokens (a vocabulary of at least 256). Errors: a file that cannot be read, is
    /// shorter than one sequence, or bytes that the vocabulary does not have.
    static Result<Data> open(const std::string& source, const Task& task, std::uint64_t seed);

    /// Sequences [first, first + count) of a step.
    [[nodiscard]] Batch batch(std::int64_t step, std::int64_t first, std::int64_t count) const;

private:
    std::int64_t fill(std::int64_t step, std::int64_t sequence, std::int64_t* tokens, std::int64_t* targets) const;

    std::vector<unsigned char> m_bytes; ///< empty: random
    Task m_task;
    std::uint64_t m_seed = 0;
};

} // namespace loadline
