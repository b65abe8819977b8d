// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/train/recomputation.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

namespace loadline {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Body = const std::function<at::Tensor(const at::Tensor&)>*;

at::Tensor randomState()
{
    auto generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard lock(generator.mutex());
    return generator.get_state();
}

void setRandomState(const at::Tensor& state)
{
    auto generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard lock(generator.mutex());
    generator.set_state(state);
}

struct Recompute : torch::autograd::Function<Recompute> {
    /// `anchor` requires a gradient, so that the region is differentiated also where its input is not (frozen embeddings).
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& /*anchor*/, std::int64_t body)
    {
        context->save_for_backward({x});
        context->saved_data["body"] = body;
        context->saved_data["random"] = randomState();
        context->saved_data["differentiated"] = x.requires_grad();
        return (*reinterpret_cast<Body>(body))(x);
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients)
    {
        const at::Tensor x = context->get_saved_variables()[0].detach();
        x.set_requires_grad(context->saved_data["differentiated"].toBool());
        const at::Tensor before = randomState();
        setRandomState(context->saved_data["random"].toTensor());
        at::Tensor y;
        {
            const at::AutoGradMode on(true);
            y = (*reinterpret_cast<Body>(context->saved_data["body"].toInt()))(x);
        }
        setRandomState(before);
        torch::autograd::backward({y}, {gradients[0]});
        return {x.grad(), at::Tensor(), at::Tensor()};
    }
};

} // namespace

at::Tensor recomputed(const at::Tensor& x, Body body)
{
    at::Tensor anchor = at::empty({0});
    anchor.set_requires_grad(true);
    return Recompute::apply(x, anchor, reinterpret_cast<std::int64_t>(body));
}

} // namespace loadline
