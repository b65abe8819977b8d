// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/config_reader.hpp"
#include "core/model/model_builder.hpp"
#include "core/model/stack.hpp"

#include <span>
#include <string_view>

namespace loadline {

/// How one Hugging Face model_type becomes operators.
struct Family {
    std::string_view type;    ///< model_type; several spellings separated by spaces
    std::string_view classes; ///< start of the class in `architectures`, for files without model_type; may be empty
    void (*build)(ConfigReader&, ModelBuilder&);
};

/// Every family that can be planned, in the order of docs/models.md.
std::span<const Family> families();

// One table a file; `families()` joins them.
std::span<const Family> llamaFamilies(); ///< RMSNorm, rotary positions, gated MLP
std::span<const Family> gemmaFamilies();
std::span<const Family> gptFamilies();    ///< LayerNorm, mostly learned positions
std::span<const Family> fusedFamilies();  ///< LayerNorm, ALiBi or rotary positions
std::span<const Family> expertFamilies(); ///< mixture of experts
std::span<const Family> encoderFamilies();
std::span<const Family> seq2seqFamilies();
std::span<const Family> visionFamilies();
} // namespace loadline
