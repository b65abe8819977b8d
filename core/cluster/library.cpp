// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/library.hpp"

#include "core/base/embedded.hpp"
#include "core/base/json.hpp"
#include "core/cluster/fields.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <span>

namespace loadline {

std::span<const EmbeddedFile> embeddedClusters();

namespace {

// Bounds are far beyond any real device, and so near that no product of two of them overflows.
constexpr double kLeastRate = 1;
constexpr double kMostRate = 1e19;
constexpr double kMostLatency = 10;
constexpr double kMostSlowDown = 100;

Link readLink(Fields fields, Fields& outer)
{
    Link link;
    link.latency = Seconds(fields.number("latency_seconds", 0, kMostLatency));
    link.bytesPerSecond = fields.number("bytes_per_second", kLeastRate, kMostRate);
    link.source = fields.text("source", "");
    fields.refuseUnknown();
    outer.adopt(fields);
    return link;
}

Device readDevice(Fields fields, Fields& outer)
{
    Device device;
    device.name = fields.text("name");
    device.memory = fields.bytes("memory", 1_MiB, Bytes(1LL << 50));
    device.fp32FlopsPerSecond = fields.number("fp32_flops_per_second", kLeastRate, kMostRate);
    device.halfFlopsPerSecond = fields.number("half_flops_per_second", kLeastRate, kMostRate);
    device.bytesPerSecond = fields.number("memory_bytes_per_second", kLeastRate, kMostRate);
    device.flopsEfficiency = fields.number("flops_efficiency", 0.001, 1);
    device.attentionEfficiency = fields.number("attention_efficiency", 0, 1, 0.0);
    device.memoryEfficiency = fields.number("memory_efficiency", 0.001, 1);
    device.overhead = fields.bytes("overhead", Bytes(0), Bytes(1LL << 50));
    device.source = fields.text("source", "");
    fields.refuseUnknown();
    outer.adopt(fields);
    return device;
}

Json writeLink(const Link& link)
{
    return {{"latency_seconds", link.latency.value()}, {"bytes_per_second", link.bytesPerSecond}, {"source", link.source}};
}

std::string lowerCase(std::string text)
{
    for (char& c : text)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

/// `cluster` under another count of its GPUs, if `name` reads "<count>x<its device>": up to a node of them in one node,
/// beyond that whole nodes.
std::optional<Cluster> ofName(const Cluster& cluster, const std::string& name)
{
    const auto wanted = lowerCase(name);
    if (wanted == lowerCase(cluster.name))
        return cluster;
    const auto cross = cluster.name.find('x');
    if (cross == std::string::npos)
        return std::nullopt;
    const auto device = lowerCase(cluster.name.substr(cross));
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), count);
    if (error != std::errc{} || std::string_view(end, wanted.data() + wanted.size()) != device || count < 1 || count > kMostRanks)
        return std::nullopt;
    auto other = cluster;
    other.name = fmt::format("{}{}", count, cluster.name.substr(cross));
    if (count <= cluster.gpusPerNode) {
        other.nodes = 1;
        other.gpusPerNode = count;
        return other;
    }
    if (count % cluster.gpusPerNode != 0)
        return std::nullopt;
    other.nodes = count / cluster.gpusPerNode;
    return other;
}

std::vector<Cluster> readBundled()
{
    std::vector<Cluster> clusters;
    for (const auto& file : embeddedClusters()) {
        // A bundled file that does not read is left out here; a test reads each of them.
        if (auto cluster = readCluster(file.text, file.name); cluster.ok())
            clusters.push_back(std::move(cluster).value());
    }
    std::sort(clusters.begin(), clusters.end(), [](const Cluster& a, const Cluster& b) { return a.name < b.name; });
    return clusters;
}

} // namespace

const std::vector<Cluster>& bundledClusters()
{
    static const std::vector<Cluster> clusters = readBundled();
    return clusters;
}

Result<Cluster> readCluster(std::string_view text, std::string_view origin)
{
    auto document = parseFormat(text, origin, "cluster", 1);
    if (!document.ok())
        return document.error();
    Fields fields(document.value(), std::string(origin));
    Cluster cluster;
    fields.text("format");
    cluster.name = fields.text("name");
    cluster.device = readDevice(fields.object("device"), fields);
    cluster.nodes = fields.whole("nodes", 1, kMostRanks);
    cluster.gpusPerNode = fields.whole("gpus_per_node", 1, kMostRanks);
    cluster.intra = readLink(fields.object("intra"), fields);
    cluster.inter = readLink(fields.object("inter"), fields);
    cluster.hierarchical = fields.flag("hierarchical", false);
    cluster.overlapCompute = fields.number("overlap_compute", 1, kMostSlowDown, 1.0);
    cluster.overlapTransfer = fields.number("overlap_transfer", 1, kMostSlowDown, 1.0);
    fields.refuseUnknown();
    if (cluster.ranks() > kMostRanks)
        fields.fail("gpus_per_node", fmt::format("makes more than {} ranks with 'nodes'; lower one of them", kMostRanks));
    if (1 / cluster.overlapCompute + 1 / cluster.overlapTransfer < 1)
        fields.fail("overlap_transfer", "makes overlap slower than taking turns (1/overlap_compute + 1/overlap_transfer < 1); lower it");
    if (cluster.device.overhead >= cluster.device.memory)
        fields.fail("device.overhead", "is not below 'device.memory'; lower it");
    if (fields.fault())
        return *fields.fault();
    return cluster;
}

std::string writeCluster(const Cluster& cluster)
{
    const auto& device = cluster.device;
    const Json document = {
        {"format", "loadline.cluster/1"},
        {"name", cluster.name},
        {"device",
         {{"name", device.name},
          {"memory", device.memory.count()},
          {"fp32_flops_per_second", device.fp32FlopsPerSecond},
          {"half_flops_per_second", device.halfFlopsPerSecond},
          {"memory_bytes_per_second", device.bytesPerSecond},
          {"flops_efficiency", device.flopsEfficiency},
          {"attention_efficiency", device.attentionEfficiency},
          {"memory_efficiency", device.memoryEfficiency},
          {"overhead", device.overhead.count()},
          {"source", device.source}}},
        {"nodes", cluster.nodes},
        {"gpus_per_node", cluster.gpusPerNode},
        {"intra", writeLink(cluster.intra)},
        {"inter", writeLink(cluster.inter)},
        {"hierarchical", cluster.hierarchical},
        {"overlap_compute", cluster.overlapCompute},
        {"overlap_transfer", cluster.overlapTransfer},
    };
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Cluster> loadCluster(const std::string& pathOrName)
{
    for (const auto& cluster : bundledClusters()) {
        if (auto named = ofName(cluster, pathOrName))
            return *std::move(named);
    }
    std::error_code code;
    if (!std::filesystem::exists(pathOrName, code))
        return notFound(
            fmt::format("there is no bundled cluster and no file called '{}'; see 'loadline-plan list' for the names", pathOrName));
    auto text = readFile(pathOrName, 1LL << 20);
    if (!text.ok())
        return text.error();
    return readCluster(text.value(), pathOrName);
}

} // namespace loadline
