// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace loadline {

/// A link between ranks of one level. One ring pass of S bytes over n ranks takes (n-1)(latency + S/n / bandwidth).
struct Link {
    Seconds latency;           ///< of one message
    double bytesPerSecond = 0; ///< of one rank in a ring, one direction
    std::string source;        ///< where both figures come from
    friend bool operator==(const Link&, const Link&) = default;
};

struct Device {
    std::string name;
    Bytes memory;                   ///< usable by a program
    double fp32FlopsPerSecond = 0;  ///< peak of matrix products in fp32 (TF32 where the device has it, and `source` says so)
    double halfFlopsPerSecond = 0;  ///< peak in bf16 or fp16
    double bytesPerSecond = 0;      ///< device memory
    double flopsEfficiency = 0;     ///< share of peak that matrix products reach; an estimate until profiled
    double attentionEfficiency = 0; ///< share of peak that attention kernels reach; 0: as matrix products
    double memoryEfficiency = 0;    ///< share of device-memory bandwidth that element-wise work reaches; an estimate likewise
    Bytes overhead;                 ///< context, communicators, allocator slack
    std::string source;
    friend bool operator==(const Device&, const Device&) = default;
};

/// nodes x gpusPerNode equal devices.
struct Cluster {
    std::string name;
    Device device;
    std::int64_t nodes = 1;
    std::int64_t gpusPerNode = 1;
    Link intra;                   ///< inside a node
    Link inter;                   ///< between nodes; unused with one node
    bool hierarchical = false;    ///< two-phase collectives (inside a node, then across); else one flat ring
    double overlapCompute = 1.0;  ///< alpha: compute takes this much longer while communication runs
    double overlapTransfer = 1.0; ///< beta: communication takes this much longer while compute runs

    [[nodiscard]] std::int64_t ranks() const { return nodes * gpusPerNode; }
    friend bool operator==(const Cluster&, const Cluster&) = default;
};

} // namespace loadline
