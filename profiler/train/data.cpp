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

Result<Data> Data::open(const std::string& source, const Task& task, std::uint64_t seed)
{
    Data data;
    data.m_task = task;
    data.m_seed = seed;
    if (source == "random")
        return data;
    const auto text = readFile(source);
    if (!text)
        return text.error();
    if (static_cast<std::int64_t>(text->size()) < task.tokens + 1)
        return invalidInput(fmt::format("data file {} has {} bytes, fewer than one sequence of {} tokens and the next; give a longer one",
                                        source, text->size(), task.tokens));
    if (task.vocabulary < 256)
        return invalidInput(fmt::format("data file {} has bytes, but the model's vocabulary has {} tokens; give a model with at least 256",
                                        source, task.vocabulary));
    data.m_bytes.assign(text->begin(), text->end());
    return data;
}

Batch Data::batch(std::int64_t step, std::int64_t first, std::int64_t count) const
{
    Batch batch{at::empty({count, m_task.tokens}, at::kLong), at::empty({count, m_task.tokens}, at::kLong), {}};
    auto* tokens = batch.tokens.data_ptr<std::int64_t>();
    auto* targets = batch.targets.data_ptr<std::int64_t>();
    if (m_task.labels > 0)
        batch.labels = at::empty({count}, at::kLong);
    for (std::int64_t s = 0; s < count; ++s) {
        const std::int64_t label = fill(step, first + s, tokens + s * m_task.tokens, targets + s * m_task.tokens);
        if (m_task.labels > 0)
            batch.labels.data_ptr<std::int64_t>()[s] = label;
    }
    return batch;
}

std::int64_t Data::fill(std::int64_t step, std::int64_t sequence, std::int64_t* tokens, std::int64_t* targets) const
{
    Numbers numbers(m_seed * 1000003 + static_cast<std::uint64_t>(step) * 7919 + static_cast<std::uint64_t>(sequence) + 1);
    const auto room = static_cast<std::uint64_t>(m_bytes.empty() ? 1 : static_cast<std::int64_t>(m_bytes.size()) - m_task.tokens);
    auto start = static_cast<std::size_t>(numbers.next() % room);
    const auto label = static_cast<std::int64_t>(m_task.labels > 0 ? numbers.next() % static_cast<std::uint64_t>(m_task.labels) : 0);
    for (std::int64_t t = 0; t <= m_task.tokens; ++t) {
        if (m_task.labels == 2 && label == 1 && t == m_task.tokens / 2)
            start = static_cast<std::size_t>(numbers.next() % room); // goes on elsewhere
        const std::int64_t next = m_bytes.empty()
                                      ? static_cast<std::int64_t>(numbers.next() % static_cast<std::uint64_t>(m_task.vocabulary))
                                      : m_bytes[start + static_cast<std::size_t>(t)];
        if (t > 0 && !m_task.masked)
            targets[t - 1] = next;
        if (t == m_task.tokens)
            break;
        const bool hidden = m_task.masked && t % kMaskEvery == 0;
        tokens[t] = hidden ? 0 : next;
        if (m_task.masked)
            targets[t] = hidden ? next : kIgnored;
    }
    return label;
}

} // namespace loadline
