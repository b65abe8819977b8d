// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/format.hpp"
#include "core/model/lora.hpp"
#include "core/model/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loadline {
namespace {

using testing::Contains;
using testing::HasSubstr;

Model bundled(const std::string& name)
{
    auto model = loadModel(name);
    EXPECT_TRUE(model.ok());
    return model.ok() ? *model : Model{};
}

TEST(Lora, TrainsOnlyTheAdapters)
{
    const auto base = bundled("llama3-8b");
    const auto model = applyLora(base, "rank=16,targets=q_proj:v_proj");
    ASSERT_TRUE(model.ok()) << model.error().message;
    // 32 layers; A is 16 x 4096 twice, B is 4096 x 16 and 1024 x 16.
    EXPECT_EQ(model->trainableCount(), 32LL * 16 * (4096 + 4096 + 4096 + 1024));
    EXPECT_EQ(model->parameterCount(), base.parameterCount() + model->trainableCount());
    EXPECT_THAT(model->notes, Contains(HasSubstr("64 linears")));
}

TEST(Lora, NamesAdaptersAsPeftDoes)
{
    const auto model = applyLora(bundled("gpt2-small"), "rank=8,targets=c_attn");
    ASSERT_TRUE(model.ok());
    std::vector<std::string> names;
    for (const auto& op : model->operators)
        if (op.layer == 0)
            names.push_back(op.name);
    EXPECT_THAT(names, Contains("transformer.h.0.attn.c_attn.lora_A.default"));
    EXPECT_EQ(model->operators[5].parameters.front().name, "transformer.h.0.attn.c_attn.lora_A.default.weight");
    EXPECT_THAT(model->operators[5].parameters.front().shape, testing::ElementsAre(8, 768));
    EXPECT_THAT(model->operators[6].parameters.front().shape, testing::ElementsAre(2304, 8));
}

TEST(Lora, ReadsBackEqual)
{
    const auto model = applyLora(bundled("gpt-tiny"), "rank=4,targets=all-linear");
    ASSERT_TRUE(model.ok());
    const auto back = readModel(writeModel(*model), "written");
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_TRUE(*back == *model);
}

TEST(Lora, RefusesWhatItCannotApply)
{
    const auto model = bundled("gpt-tiny");
    for (const char* text :
         {"", "rank=0,targets=c_attn", "rank=-3,targets=c_attn", "rank=x,targets=c_attn", "rank=1e9,targets=c_attn",
          "rank=99999999999999999999,targets=c_attn", "rank=4", "targets=c_attn", "rank=4,targets=", "rank=4,targets=a::b",
          "rank=4,targets=nothing", "rank=4,alpha=3,targets=c_attn", "rank=4,targets=wte", "=,=,="})
        EXPECT_FALSE(applyLora(model, text).ok()) << text;
}

TEST(Freeze, TakesOperatorsAndParametersByPattern)
{
    auto model = bundled("gpt-tiny");
    const auto frozen = freeze(model, "transformer.h.0.*");
    ASSERT_TRUE(frozen.ok());
    EXPECT_EQ(*frozen, 12); // two norms, four linears, weight and bias each
    EXPECT_LT(model.trainableCount(), model.parameterCount());
    EXPECT_FALSE(freeze(model, "nothing.*").ok());
}

} // namespace
} // namespace loadline
