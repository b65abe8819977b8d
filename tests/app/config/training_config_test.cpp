// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/config/training_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace loadline {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TrainingConfig load(const std::string& name)
{
    auto config = loadTrainingConfig(std::string(LOADLINE_SOURCE_DIR "/tests/data/configs/") + name);
    EXPECT_TRUE(config) << (config ? "" : config.error().message);
    return config ? *config : TrainingConfig{};
}

std::string problem(const std::string& text, ConfigSyntax syntax)
{
    const auto config = readTrainingConfig(text, syntax, "here");
    return config ? std::string() : config.error().message;
}

TEST(DeepSpeedConfig, AutoStaysOpenAndOffloadIsSaid)
{
    const auto config = load("ds-zero3-offload-all-auto.json");
    EXPECT_EQ(config.kind, "DeepSpeed");
    EXPECT_EQ(config.sharding, Sharding::Everything);
    EXPECT_EQ(config.precision, ConfigPrecision::Unsaid);
    EXPECT_EQ(config.microBatch, std::nullopt);
    EXPECT_EQ(config.accumulation, 1);
    EXPECT_TRUE(config.persistAuto);
    EXPECT_EQ(config.optimizer, "adamw");
    EXPECT_THAT(config.notes, Contains(HasSubstr("offload_optimizer")));
    EXPECT_THAT(config.notes, Contains(HasSubstr("offload_param")));
}

TEST(DeepSpeedConfig, StagesBatchesAndThresholds)
{
    const auto bench = load("ds-llama-bench-zero2.json");
    EXPECT_EQ(bench.sharding, Sharding::Gradients);
    EXPECT_EQ(bench.precision, ConfigPrecision::Fp16Weights);
    EXPECT_EQ(bench.microBatch, 4);
    EXPECT_EQ(bench.ranks, 8) << "32 = 4 x 1 x 8";

    const auto issue = load("ds-issue123-zero1-adam.json");
    EXPECT_EQ(issue.sharding, Sharding::Optimizer);
    EXPECT_EQ(issue.globalBatch, 4096);
    EXPECT_EQ(issue.accumulation, std::nullopt);

    const auto megatron = load("ds-megatron-zero0-gas3.json");
    EXPECT_EQ(megatron.sharding, Sharding::Nothing);
    EXPECT_EQ(megatron.accumulation, 3);
    EXPECT_THAT(megatron.notes, Contains(HasSubstr("activation_checkpointing")));

    EXPECT_EQ(load("ds-z3-deepcompile-no-persist.json").persistBelow, 0);
    EXPECT_EQ(load("ds-z3-deepcompile-no-persist.json").precision, ConfigPrecision::Bf16Weights);
    EXPECT_EQ(load("ds-zero3-sdma.json").persistBelow, 100'000);
    EXPECT_EQ(load("ds-autotuning-template-zero3.json").persistBelow, 1'000'000);
    EXPECT_EQ(load("ds-boomer-zero2-auto-with-stage3-key.json").sharding, Sharding::Gradients);
}

TEST(NeoxConfig, PythonWordsAndOtherParallelism)
{
    const auto config = load("gpt-neox-20B.yml");
    EXPECT_EQ(config.kind, "GPT-NeoX (DeepSpeed)");
    EXPECT_EQ(config.sharding, Sharding::Optimizer);
    EXPECT_EQ(config.microBatch, 4);
    EXPECT_EQ(config.accumulation, 32);
    EXPECT_EQ(config.sequence, 2048);
    EXPECT_TRUE(config.recomputeAll);
    EXPECT_THAT(config.notes, Contains(HasSubstr("pipe-parallel-size 4 is left out")));
    EXPECT_THAT(config.notes, Contains(HasSubstr("model-parallel-size 2 is left out")));
}

TEST(TorchtitanConfig, NewAndOldKeys)
{
    const auto config = load("torchtitan-llama3_8b.toml");
    EXPECT_EQ(config.kind, "torchtitan");
    EXPECT_EQ(config.sharding, Sharding::Everything);
    EXPECT_EQ(config.shardGroup, 0) << "-1 is all ranks";
    EXPECT_EQ(config.microBatch, 1);
    EXPECT_EQ(config.sequence, 8192);
    EXPECT_EQ(config.precision, ConfigPrecision::Bf16Copies);
    EXPECT_THAT(config.notes, Contains(HasSubstr("selective recomputation")));

    EXPECT_EQ(load("torchtitan-deepseek_v3_671b.toml").microBatch, 4);

    const auto old = load("torchtitan-llama3_70b-2024.toml");
    EXPECT_EQ(old.microBatch, 8);
    EXPECT_TRUE(old.recomputeAll);
    EXPECT_THAT(old.notes, Contains(HasSubstr("tensor_parallel_degree 8 is left out")));
}

TEST(TorchtitanConfig, HybridAndNeverReshard)
{
    const auto hybrid = readTrainingConfig("[parallelism]\ndata_parallel_replicate_degree = 4\ndata_parallel_shard_degree = 8\n"
                                           "fsdp_reshard_after_forward = \"never\"\n",
                                           ConfigSyntax::TomlText, "here");
    ASSERT_TRUE(hybrid) << hybrid.error().message;
    EXPECT_EQ(hybrid->sharding, Sharding::HybridZeRO2);
    EXPECT_EQ(hybrid->shardGroup, 8);
    EXPECT_EQ(hybrid->ranks, 32);
}

TEST(AccelerateConfig, StrategiesByWordAndNumber)
{
    const auto word = load("accelerate-fsdp-homellm-2gpu-comment.yaml");
    EXPECT_EQ(word.kind, "Accelerate (FSDP)");
    EXPECT_EQ(word.sharding, Sharding::Everything);
    EXPECT_EQ(word.precision, ConfigPrecision::Bf16Copies);
    EXPECT_EQ(word.ranks, 2);

    const auto number = load("accelerate-fsdp-hfblog-legacy-numeric-strategy.yaml");
    EXPECT_EQ(number.sharding, Sharding::Everything);
    EXPECT_EQ(number.precision, ConfigPrecision::Fp32) << "'no' in quotes is a word, not false";

    EXPECT_THAT(load("accelerate-fsdp-halos-no-precision-no-layercls.yaml").notes, Contains(HasSubstr("mixed_precision is not stated")));
    EXPECT_EQ(load("accelerate-fsdp-bertlayer-null-ignored.yaml").ranks, 1);
}

TEST(GalvatronConfig, LayerByLayer)
{
    const auto config = load("galvatron-llama3-8b.json");
    EXPECT_EQ(config.kind, "Galvatron");
    ASSERT_EQ(config.layers.size(), 32U);
    EXPECT_EQ(config.layers[0], (LayerConfig{Sharding::Everything, true}));
    EXPECT_EQ(config.layers[31], (LayerConfig{Sharding::Gradients, false}));
    EXPECT_EQ(config.globalBatch, 16);
    EXPECT_EQ(config.accumulation, 2);
    EXPECT_TRUE(config.shardedEmbedding);
}

TEST(TrainingConfig, EveryBundledExampleReads)
{
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(LOADLINE_SOURCE_DIR "/tests/data/configs")) {
        if (entry.path().extension() == ".md")
            continue;
        const auto config = loadTrainingConfig(entry.path());
        EXPECT_TRUE(config) << entry.path() << (config ? "" : config.error().message);
        ++files;
    }
    EXPECT_EQ(files, 17);
}

TEST(TrainingConfig, ErrorsNameTheKeyOrLine)
{
    using enum ConfigSyntax;
    EXPECT_THAT(problem(R"({"zero_optimization": {"stage": 4}})", JsonText), HasSubstr("'zero_optimization.stage'"));
    EXPECT_THAT(problem(R"({"zero_optimization": 3})", JsonText), HasSubstr("'zero_optimization'"));
    EXPECT_THAT(problem(R"({"zero_optimization": {"stage": 3}, "train_batch_size": -1})", JsonText), HasSubstr("'train_batch_size'"));
    EXPECT_THAT(problem(R"({"train_batch_size": 1e99})", JsonText), HasSubstr("'train_batch_size'"));
    EXPECT_THAT(problem(R"({"train_batch_size": 8, "train_batch_size": 9})", JsonText), HasSubstr("twice"));
    EXPECT_THAT(problem(R"({"train_batch_size": 10, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 1})", JsonText),
                HasSubstr("no multiple"));
    EXPECT_THAT(problem("fsdp_config: {a: 1}\nfsdp_config: {b: 1}\n", YamlText), HasSubstr("twice"));
    EXPECT_THAT(problem("distributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: 9\n", YamlText), HasSubstr("FULL_SHARD"));
    EXPECT_THAT(problem("a: [1, 2\nb: }", YamlText), HasSubstr("line"));
    EXPECT_THAT(problem("[training]\nbatch_size = \n", TomlText), HasSubstr("line 2"));
    EXPECT_THAT(problem("[training]\nbatch_size = 1\nbatch_size = 2\n", TomlText), HasSubstr("not valid TOML"));
    EXPECT_THAT(problem("[training]\nbatch_size = \"four\"\n", TomlText), HasSubstr("'training.batch_size'"));
    EXPECT_THAT(problem(R"({"dp_types_enc": "1,2"})", JsonText), HasSubstr("'dp_types_enc'"));
    EXPECT_THAT(problem(R"({"dp_types_enc": "1,0", "checkpoint": "1"})", JsonText), HasSubstr("'checkpoint'"));
    EXPECT_THAT(problem(R"({"hello": 1})", JsonText), HasSubstr("none of their keys"));
    for (const auto syntax : {JsonText, YamlText, TomlText}) {
        EXPECT_NE(problem("", syntax), "");
        EXPECT_NE(problem("\xff\xfe", syntax), "");
        EXPECT_NE(problem("[1, 2", syntax), "");
    }
}

TEST(TrainingConfig, DeepAndMultiplyingDocumentsAreRefused)
{
    std::string deep;
    for (int i = 0; i < 5000; ++i)
        deep += "[";
    EXPECT_NE(problem("a: " + deep, ConfigSyntax::YamlText), "");
    EXPECT_NE(problem(deep, ConfigSyntax::JsonText), "");
    EXPECT_NE(problem("a = " + deep, ConfigSyntax::TomlText), "");
    std::string aliases = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        const auto before = "*a" + std::to_string(i - 1);
        aliases += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
        for (int k = 0; k < 9; ++k)
            aliases += ", " + before;
        aliases += "]\n";
    }
    EXPECT_THAT(problem(aliases, ConfigSyntax::YamlText), HasSubstr("100000 values"));
    EXPECT_THAT(problem("x: &x [*x]\n", ConfigSyntax::YamlText), Not(testing::IsEmpty()));
}

TEST(TrainingConfig, SuffixSaysTheSyntax)
{
    const auto config = loadTrainingConfig(LOADLINE_SOURCE_DIR "/tests/data/configs/README.md");
    ASSERT_FALSE(config);
    EXPECT_THAT(config.error().message, HasSubstr(".toml"));
    EXPECT_FALSE(loadTrainingConfig("/nowhere/at/all.json"));
}

} // namespace
} // namespace loadline
