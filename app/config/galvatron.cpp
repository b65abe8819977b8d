// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/config/readers.hpp"
#include "core/base/text.hpp"

#include <fmt/format.h>

#include <charconv>

namespace loadline {
namespace {

constexpr std::size_t kMostLayers = 100'000;

/// "1,1,0": one number a layer.
std::vector<std::int64_t> numberList(const ConfigFields& root, std::string_view key)
{
    std::vector<std::int64_t> numbers;
    const auto text = root.word(key);
    if (!text || text->empty())
        return numbers;
    for (const auto& part : split(*text, ',')) {
        std::int64_t value = 0;
        const char* end = part.data() + part.size();
        const auto [stop, error] = std::from_chars(part.data(), end, value);
        if (error != std::errc{} || stop != end || value < 0 || numbers.size() >= kMostLayers) {
            root.refuse(key, "is not a list of whole numbers like \"1,1,0\", one a layer; correct it");
            return {};
        }
        numbers.push_back(value);
    }
    return numbers;
}

Sharding defaultSharding(const ConfigFields& root)
{
    const auto word = root.word("default_dp_type").value_or("ddp");
    if (word == "ddp")
        return Sharding::Nothing;
    if (word == "zero2")
        return Sharding::Gradients;
    if (word != "zero3")
        root.refuse("default_dp_type", "is none of ddp, zero2, zero3; correct it");
    return Sharding::Everything;
}

} // namespace

TrainingConfig readGalvatron(const ConfigFields& root)
{
    TrainingConfig config;
    config.kind = "Galvatron";
    config.sharding = defaultSharding(root);
    config.shardedEmbedding = root.whole("embed_sdp", 0, 1).value_or(0) == 1;
    const auto types = numberList(root, "dp_types_enc");
    const auto checkpoints = numberList(root, "checkpoint");
    if (types.empty())
        root.refuse("dp_types_enc", "is missing or empty; write one number a layer");
    if (!checkpoints.empty() && checkpoints.size() != types.size())
        root.refuse("checkpoint",
                    fmt::format("has {} entries and dp_types_enc has {}; write one a layer", checkpoints.size(), types.size()));
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (types[i] > 1)
            root.refuse("dp_types_enc", "has an entry other than 0 (default_dp_type) and 1 (zero3); correct it");
        const bool recompute = i < checkpoints.size() && checkpoints[i] != 0;
        config.layers.push_back({types[i] == 1 ? Sharding::Everything : config.sharding, recompute});
    }
    for (const auto* key : {"tp_sizes_enc", "cp_sizes_enc"}) {
        for (const auto size : numberList(root, key)) {
            if (size > 1) {
                root.note(fmt::format("{} above 1 is left out: all ranks count as data-parallel", key));
                break;
            }
        }
    }
    leaveOutDegree(root, "pp_deg");
    leaveOutDegree(root, "vtp");
    config.globalBatch = root.whole("global_bsz", 1, kMostGlobalBatch);
    config.accumulation = root.whole("chunks", 1, kMostBatch);
    return config;
}

} // namespace loadline
