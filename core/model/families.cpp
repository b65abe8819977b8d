// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/families.hpp"

#include <vector>

namespace loadline {

std::span<const Family> families()
{
    static const auto all = [] {
        std::vector<Family> list;
        for (const auto table : {llamaFamilies(), gemmaFamilies(), gptFamilies(), fusedFamilies(), expertFamilies(), encoderFamilies(),
                                 seq2seqFamilies(), visionFamilies()})
            list.insert(list.end(), table.begin(), table.end());
        return list;
    }();
    return all;
}

} // namespace loadline
