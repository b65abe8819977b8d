// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/cluster/cluster.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// The clusters that come with the program (resources/clusters), by name.
const std::vector<Cluster>& bundledClusters();

/// A bundled cluster by name (letters in any case), else the file of that path. "64xH100-80" is the bundled "8xH100-80"
/// with 8 nodes; up to 8 GPUs stay in one node. Errors name the name, or the file and key.
Result<Cluster> loadCluster(const std::string& pathOrName);

/// Reads `loadline.cluster/1` (docs/clusters.md). Every figure must be finite and within the bounds that the page gives;
/// nodes x gpus_per_node is at most a million. Errors name `origin` and the key.
Result<Cluster> readCluster(std::string_view text, std::string_view origin);

/// The same format; `readCluster(writeCluster(c))` equals `c`.
std::string writeCluster(const Cluster& cluster);

inline constexpr std::int64_t kMostRanks = 1'000'000;

} // namespace loadline
