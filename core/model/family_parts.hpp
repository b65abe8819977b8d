// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/config_reader.hpp"
#include "core/model/decoder.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What several families read in the same way.
namespace loadline {

/// Defaults in which the RMSNorm decoders differ.
struct RmsDefaults {
    std::int64_t headDim = 0; ///< 0: hidden / heads
    bool tied = false;
    std::string_view activation = "silu";
};

/// Sizes, names and layers of a Llama-like decoder, all layers alike.
DecoderSpec rmsDecoder(ConfigReader& c, const RmsDefaults& defaults = {});

/// Reads the tie key and builds, if no key was wrong.
void finishDecoder(ConfigReader& c, DecoderSpec& s, ModelBuilder& b);

/// `layers` copies of one layer; heads, headDim and so on filled in.
void setLayers(DecoderSpec& s, std::int64_t layers, const DecoderLayer& layer);

void setWindows(DecoderSpec& s, std::int64_t window);
/// `types`: one of "full_attention", "sliding_attention", "chunked_attention" a layer.
void setWindowsByType(ConfigReader& c, DecoderSpec& s, const std::vector<std::string>& types, std::int64_t window);

/// hidden / heads; fails if it does not divide.
std::int64_t dividedHeads(ConfigReader& c, std::int64_t hidden, std::int64_t heads);

/// The activation a name stands for; `gated` asks for its product form. Fails on an unknown name, naming `key`.
ActivationKind activationNamed(ConfigReader& c, std::string_view key, std::string_view name, bool gated);
ActivationKind readActivation(ConfigReader& c, std::string_view keys, std::string_view fallback, bool gated);

/// tie_word_embeddings with the family's default.
bool readTied(ConfigReader& c, bool fallback);

} // namespace loadline
