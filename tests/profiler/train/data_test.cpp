// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/train/data.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace loadline;

namespace {

namespace fs = std::filesystem;

class TextFile {
public:
    explicit TextFile(const std::string& text) : m_path(fs::temp_directory_path() / ("loadline-data-" + std::to_string(::getpid())))
    {
        std::ofstream(m_path) << text;
    }
    ~TextFile() { fs::remove(m_path); }
    [[nodiscard]] std::string path() const { return m_path; }

private:
    fs::path m_path;
};

std::int64_t at2(const at::Tensor& tensor, std::int64_t row, std::int64_t column)
{
    return tensor[row][column].item<std::int64_t>();
}

} // namespace

TEST(Data, ASequenceIsTheSameHoweverItIsAskedFor)
{
    const auto data = Data::open("random", {.vocabulary = 50, .tokens = 9}, 3);
    ASSERT_TRUE(data);
    const Batch all = data->batch(2, 0, 6);
    for (std::int64_t s = 0; s < 6; ++s) {
        const Batch one = data->batch(2, s, 1);
        EXPECT_TRUE(one.tokens.equal(all.tokens.narrow(0, s, 1)));
        EXPECT_TRUE(one.targets.equal(all.targets.narrow(0, s, 1)));
    }
    EXPECT_FALSE(data->batch(3, 0, 6).tokens.equal(all.tokens));
    EXPECT_FALSE(Data::open("random", {.vocabulary = 50, .tokens = 9}, 4)->batch(2, 0, 6).tokens.equal(all.tokens));
    EXPECT_GE(all.tokens.min().item<std::int64_t>(), 0);
    EXPECT_LT(all.tokens.max().item<std::int64_t>(), 50);
    EXPECT_FALSE(all.labels.defined());
}

TEST(Data, TheNextTokenIsToBeTold)
{
    const TextFile file("abcdefghijklmnopqrstuvwxyz");
    const auto data = Data::open(file.path(), {.vocabulary = 256, .tokens = 5}, 1);
    ASSERT_TRUE(data);
    const Batch batch = data->batch(1, 0, 8);
    for (std::int64_t s = 0; s < 8; ++s) {
        for (std::int64_t t = 0; t < 5; ++t) {
            EXPECT_EQ(at2(batch.targets, s, t), at2(batch.tokens, s, t) + 1); // of the alphabet
            EXPECT_GE(at2(batch.tokens, s, t), 'a');
        }
    }
}

TEST(Data, MaskedTokensAreHiddenAndToldEverySeventh)
{
    const auto data = Data::open("random", {.vocabulary = 50, .tokens = 16, .masked = true}, 1);
    ASSERT_TRUE(data);
    const Batch batch = data->batch(1, 0, 2);
    for (std::int64_t t = 0; t < 16; ++t) {
        EXPECT_EQ(at2(batch.targets, 0, t) == -100, t % 7 != 0);
        if (t % 7 == 0) {
            EXPECT_EQ(at2(batch.tokens, 0, t), 0);
        }
    }
}

TEST(Data, ASecondHalfGoesOnOrNot)
{
    std::string text; // 250 different bytes: each tells where it stands
    for (int i = 1; i <= 250; ++i)
        text += static_cast<char>(i);
    const TextFile file(text);
    const auto data = Data::open(file.path(), {.vocabulary = 256, .tokens = 14, .masked = true, .labels = 2}, 5);
    ASSERT_TRUE(data);
    const Batch batch = data->batch(1, 0, 40);
    int elsewhere = 0;
    for (std::int64_t s = 0; s < 40; ++s) {
        const bool joined = at2(batch.tokens, s, 8) == at2(batch.tokens, s, 6) + 2; // 7 is hidden
        const auto label = batch.labels[s].item<std::int64_t>();
        EXPECT_EQ(joined, label == 0) << s;
        elsewhere += static_cast<int>(label);
    }
    EXPECT_GT(elsewhere, 8);
    EXPECT_LT(elsewhere, 32);
}

TEST(Data, WhatCannotBeReadIsSaidInASentence)
{
    EXPECT_FALSE(Data::open("/no/such/file", {.vocabulary = 256, .tokens = 5}, 1));
    const TextFile file("short");
    const auto shorter = Data::open(file.path(), {.vocabulary = 256, .tokens = 5}, 1);
    ASSERT_FALSE(shorter);
    EXPECT_NE(shorter.error().message.find("5 bytes"), std::string::npos);
    const auto few = Data::open(file.path(), {.vocabulary = 100, .tokens = 4}, 1);
    ASSERT_FALSE(few);
    EXPECT_NE(few.error().message.find("256"), std::string::npos);
}
