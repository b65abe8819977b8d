// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/library.hpp"

#include "core/base/json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace loadline {
namespace {

std::filesystem::path folder()
{
    return std::filesystem::path(LOADLINE_SOURCE_DIR) / "resources/clusters";
}

TEST(BundledClusters, EveryFileReadsAndIsListed)
{
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
        const auto text = readFile(entry.path());
        ASSERT_TRUE(text.ok());
        const auto cluster = readCluster(*text, entry.path().string());
        ASSERT_TRUE(cluster.ok()) << cluster.error().message;
        const auto named = loadCluster(cluster->name);
        ASSERT_TRUE(named.ok());
        EXPECT_EQ(*named, *cluster);
        ++files;
    }
    EXPECT_EQ(bundledClusters().size(), files);
    EXPECT_EQ(files, 10U);
}

TEST(BundledClusters, EveryFigureHasASource)
{
    for (const auto& cluster : bundledClusters()) {
        const auto& source = cluster.device.source;
        EXPECT_TRUE(source.find("data sheet") != std::string::npos || source.find("white paper") != std::string::npos) << cluster.name;
        EXPECT_FALSE(cluster.intra.source.empty()) << cluster.name;
        EXPECT_FALSE(cluster.inter.source.empty()) << cluster.name;
        // A latency is never on a data sheet, and the page must not claim otherwise.
        EXPECT_NE(cluster.intra.source.find("estimate"), std::string::npos) << cluster.name;
    }
}

TEST(BundledClusters, ThePapersMachineHasItsCoefficients)
{
    const auto cluster = loadCluster("8xTITAN-RTX-24");
    ASSERT_TRUE(cluster.ok());
    EXPECT_EQ(cluster->ranks(), 8);
    EXPECT_DOUBLE_EQ(cluster->intra.bytesPerSecond, 4.75e9);
    EXPECT_NEAR(cluster->device.fp32FlopsPerSecond * cluster->device.flopsEfficiency, 10.9e12, 0.03e12);
    EXPECT_EQ(cluster->device.overhead, 800_MiB);
}

TEST(ClusterFormat, WrittenClustersReadBackEqual)
{
    for (const auto& cluster : bundledClusters()) {
        const auto again = readCluster(writeCluster(cluster), "again");
        ASSERT_TRUE(again.ok()) << again.error().message;
        EXPECT_EQ(*again, cluster);
    }
}

class BadCluster : public ::testing::Test {
protected:
    void SetUp() override { m_document = Json::parse(writeCluster(*loadCluster("8xH100-80"))); }
    [[nodiscard]] std::string message() const
    {
        const auto cluster = readCluster(m_document.dump(), "my.json");
        return cluster.ok() ? std::string() : cluster.error().message;
    }
    void expectFault(std::string_view key) const
    {
        const auto text = message();
        EXPECT_NE(text.find("my.json"), std::string::npos) << text;
        EXPECT_NE(text.find(key), std::string::npos) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
    Json m_document;
};

TEST_F(BadCluster, NamesTheKeyOfEachFault)
{
    const auto good = m_document;
    const std::vector<std::pair<Json::json_pointer, Json>> changes = {
        {Json::json_pointer("/nodes"), 0},
        {Json::json_pointer("/nodes"), -3},
        {Json::json_pointer("/nodes"), 1.5},
        {Json::json_pointer("/nodes"), "two"},
        {Json::json_pointer("/nodes"), 1e99},
        {Json::json_pointer("/gpus_per_node"), 1000001},
        {Json::json_pointer("/device/memory"), "lots"},
        {Json::json_pointer("/device/memory"), 0},
        {Json::json_pointer("/device/memory"), 1e300},
        {Json::json_pointer("/device/half_flops_per_second"), 0},
        {Json::json_pointer("/device/flops_efficiency"), 1.01},
        {Json::json_pointer("/device/overhead"), "80GiB"},
        {Json::json_pointer("/device/name"), ""},
        {Json::json_pointer("/intra/bytes_per_second"), nullptr},
        {Json::json_pointer("/intra/latency_seconds"), -1e-6},
        {Json::json_pointer("/inter/latency_seconds"), "3us"},
        {Json::json_pointer("/hierarchical"), 1},
        {Json::json_pointer("/overlap_compute"), 0.5},
        {Json::json_pointer("/name"), 8},
    };
    for (const auto& [pointer, value] : changes) {
        m_document = good;
        m_document[pointer] = value;
        expectFault(pointer.back());
    }
    m_document = good;
    m_document["gpus_per_nodes"] = 8;
    expectFault("gpus_per_nodes");
    m_document = good;
    m_document.erase("inter");
    expectFault("inter");
    m_document = good;
    m_document["overlap_compute"] = 3;
    m_document["overlap_transfer"] = 3;
    expectFault("overlap_transfer");
    m_document = good;
    m_document["nodes"] = 1000;
    m_document["gpus_per_node"] = 1001;
    expectFault("gpus_per_node");
}

TEST_F(BadCluster, RefusesOtherFormatsAndNewerVersions)
{
    for (const auto* format :
         {"loadline.plan/1", "loadline.cluster/", "loadline.cluster/0", "loadline.cluster/1x", "loadline.cluster/-1", ""}) {
        m_document["format"] = format;
        EXPECT_NE(message().find("format"), std::string::npos) << format;
    }
    for (const auto* format : {"loadline.cluster/2", "loadline.cluster/99999999999999999999"}) {
        m_document["format"] = format;
        EXPECT_NE(message().find("newer"), std::string::npos) << format;
    }
}

TEST(ClusterFormat, AnyTruncationIsRefusedNotRead)
{
    const auto text = writeCluster(bundledClusters().front());
    for (std::size_t length = 0; length + 2 < text.size(); ++length)
        EXPECT_FALSE(readCluster(text.substr(0, length), "cut.json").ok()) << length;
}

TEST(LoadCluster, TheNameSaysHowManyGpus)
{
    EXPECT_EQ(loadCluster("8xh100-80")->name, "8xH100-80");
    const auto many = loadCluster("64xH100-80");
    ASSERT_TRUE(many.ok());
    EXPECT_EQ(many->nodes, 8);
    EXPECT_EQ(many->gpusPerNode, 8);
    EXPECT_EQ(many->name, "64xH100-80");
    const auto few = loadCluster("3xRTX4090-24");
    ASSERT_TRUE(few.ok());
    EXPECT_EQ(few->nodes, 1);
    EXPECT_EQ(few->ranks(), 3);
    for (const auto* name :
         {"0xH100-80", "-8xH100-80", "12xH100-80", "8xH100", "xH100-80", "99999999999999999999xH100-80", "1000008xH100-80"})
        EXPECT_FALSE(loadCluster(name).ok()) << name;
}

TEST(LoadCluster, UnknownNamesAndFoldersAreOneSentence)
{
    const auto missing = loadCluster("8xNothing");
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
    EXPECT_NE(missing.error().message.find("8xNothing"), std::string::npos);
    EXPECT_FALSE(loadCluster(folder().string()).ok());
    EXPECT_FALSE(loadCluster("").ok());
}

} // namespace
} // namespace loadline
