// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/config_reader.hpp"
#include "core/model/stack.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What several families read in the same way.
namespace loadline {

/// Defaults in which the RMSNorm decoders differ. A size of 0 has no default: its key must be there.
struct RmsDefaults {
    std::int64_t headDim = 0; ///< 0: hidden / heads; -1: none, the family puts heads together itself
    bool tied = false;
    std::string_view activation = "silu";
    std::int64_t hidden = 0, width = 0, layers = 0, heads = 0;
    std::int64_t keyHeads = 0; ///< 0: as many as heads
    std::int64_t vocabulary = 0;
    std::int64_t sequence = 2048;
};

/// Sizes, names and layers of a Llama-like decoder, all layers alike.
StackSpec rmsDecoder(ConfigReader& c, const RmsDefaults& defaults = {});

/// Builds, if no key was wrong.
void finishDecoder(ConfigReader& c, const StackSpec& s, ModelBuilder& b);

/// Reads the decoder in "text_config" of a model that also sees images, and notes that only it is planned.
void buildTextPart(ConfigReader& c, ModelBuilder& b, void (*build)(ConfigReader&, ModelBuilder&));

/// A layer whose keys and values have as many heads as its queries.
StackLayer fullHeads(ConfigReader& c, std::int64_t hidden, std::int64_t heads, std::int64_t width);
void requireSharedHeads(ConfigReader& c, const StackLayer& layer, std::string_view key);

/// `layers` copies of one layer; none if a key was wrong.
void setLayers(StackSpec& s, std::int64_t layers, const StackLayer& layer);

void setWindows(StackSpec& s, std::int64_t window);
/// `types`: one of "full_attention", "sliding_attention", "chunked_attention" a layer.
void setWindowsByType(ConfigReader& c, StackSpec& s, const std::vector<std::string>& types, std::int64_t window);
/// Qwen 2 and 3 use a window only if told to, and then only from layer `max_window_layers` on.
void setQwenWindows(ConfigReader& c, StackSpec& s);

/// Share of a head that is rotated; newer files keep it in "rope_parameters".
double readRotaryPart(ConfigReader& c, std::string_view keys, double fallback);
/// That share in features, at least 1.
std::int64_t partOf(std::int64_t headDim, double part);

/// hidden / heads; fails if it does not divide.
std::int64_t dividedHeads(ConfigReader& c, std::int64_t hidden, std::int64_t heads);

/// The activation a name stands for; `gated` asks for its product form. Fails on an unknown name, naming `key`.
ActivationKind activationNamed(ConfigReader& c, std::string_view key, std::string_view name, bool gated);
ActivationKind readActivation(ConfigReader& c, std::string_view keys, std::string_view fallback, bool gated);

/// tie_word_embeddings with the family's default.
bool readTied(ConfigReader& c, bool fallback);

} // namespace loadline
