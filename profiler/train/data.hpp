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
};

/// Sequences by number: sequence s of step t is the same whatever the plan and the number of ranks.
class Data {
public:
    /// `source`: "random", or a file whose bytes are the tokens (a vocabulary of at least 256). `masked`: BERT's task, with every seventh
    /// token hidden; else the next token is to be told. Errors: a file that cannot be read, is shorter than one sequence, or bytes that the
    /// vocabulary does not have.
    static Result<Data> open(const std::string& source, std::int64_t vocabulary, std::int64_t tokens, bool masked, std::uint64_t seed);

    /// Sequences [first, first + count) of a step.
    [[nodiscard]] Batch batch(std::int64_t step, std::int64_t first, std::int64_t count) const;

private:
    std::vector<unsigned char> m_bytes; ///< empty: random
    std::int64_t m_vocabulary = 0;
    std::int64_t m_tokens = 0;
    bool m_masked = false;
    std::uint64_t m_seed = 0;
};

} // namespace loadline
