// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/train/data.hpp"

#include "core/base/json.hpp"

#include <ATen/ops/empty.h>

#include <fmt/format.h>

namespace loadline {
namespace {

constexpr std::int64_t kIgnored = -100; ///< cross entropy leaves it out
constexpr std::int64_t kMaskEvery = 7;  ///< about BERT's 15 %; as many in every sequence, so that means over ranks are means over all

/// SplitMix64 (Steele et al., OOPSLA 2014): a few multiplications a number, the same on every machine.
class Numbers {
public:
    explicit Numbers(std::uint64_t seed) : m_state(seed) {}

    std::uint64_t next()
    {
        m_state += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = m_state;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31U);
    }

private:
    std::uint64_t m_state;
};

} // namespace

Result<Data> Data::open(const std::string& source, std::int64_t vocabulary, std::int64_t tokens, bool masked, std::uint64_t seed)
{
    Data data;
    data.m_vocabulary = vocabulary;
    data.m_tokens = tokens;
    data.m_masked = masked;
    data.m_seed = seed;
    if (source == "random")
        return data;
    const auto text = readFile(source);
    if (!text)
        return text.error();
    if (static_cast<std::int64_t>(text->size()) < tokens + 1)
        return invalidInput(fmt::format("data file {} has {} bytes, fewer than one sequence of {} tokens and the next; give a longer one",
                                        source, text->size(), tokens));
    if (vocabulary < 256)
        return invalidInput(fmt::format("data file {} has bytes, but the model's vocabulary has {} tokens; give a model with at least 256",
                                        source, vocabulary));
    data.m_bytes.assign(text->begin(), text->end());
    return data;
}

Batch Data::batch(std::int64_t step, std::int64_t first, std::int64_t count) const
{
    Batch batch{at::empty({count, m_tokens}, at::kLong), at::empty({count, m_tokens}, at::kLong)};
    auto* tokens = batch.tokens.data_ptr<std::int64_t>();
    auto* targets = batch.targets.data_ptr<std::int64_t>();
    for (std::int64_t s = 0; s < count; ++s) {
        Numbers numbers(m_seed * 1000003 + static_cast<std::uint64_t>(step) * 7919 + static_cast<std::uint64_t>(first + s) + 1);
        const auto room = static_cast<std::uint64_t>(m_bytes.empty() ? 1 : static_cast<std::int64_t>(m_bytes.size()) - m_tokens);
        const auto start = static_cast<std::size_t>(numbers.next() % room);
        std::int64_t next = 0;
        for (std::int64_t t = 0; t <= m_tokens; ++t) {
            next = m_bytes.empty() ? static_cast<std::int64_t>(numbers.next() % static_cast<std::uint64_t>(m_vocabulary))
                                   : m_bytes[start + static_cast<std::size_t>(t)];
            if (t > 0 && !m_masked)
                targets[s * m_tokens + t - 1] = next;
            if (t == m_tokens)
                break;
            const bool hidden = m_masked && t % kMaskEvery == 0;
            tokens[s * m_tokens + t] = hidden ? 0 : next;
            if (m_masked)
                targets[s * m_tokens + t] = hidden ? next : kIgnored;
        }
    }
    return batch;
}

} // namespace loadline
