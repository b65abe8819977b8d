// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/train/recomputation.hpp"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

namespace loadline {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Goes with the graph from forward to backward.
struct Holder : torch::CustomClassHolder {
    explicit Holder(RegionBody run) : body(std::move(run)) {}
    RegionBody body;
};
using HolderPtr = c10::intrusive_ptr<Holder>;

at::Tensor randomState(c10::Device place)
{
    auto generator = at::globalContext().defaultGenerator(place);
    const std::lock_guard lock(generator.mutex());
    return generator.get_state();
}

void setRandomState(c10::Device place, const at::Tensor& state)
{
    auto generator = at::globalContext().defaultGenerator(place);
    const std::lock_guard lock(generator.mutex());
    generator.set_state(state);
}

struct Recompute : torch::autograd::Function<Recompute> {
    /// `anchor` requires a gradient, so that the region is differentiated also where its input is not (frozen embeddings).
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& /*anchor*/, const HolderPtr& holder)
    {
        context->save_for_backward({x});
        context->saved_data["body"] = c10::IValue::make_capsule(holder);
        context->saved_data["random"] = randomState(x.device());
        context->saved_data["differentiated"] = x.requires_grad();
        return holder->body(x);
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients)
    {
        const at::Tensor x = context->get_saved_variables()[0].detach();
        x.set_requires_grad(context->saved_data["differentiated"].toBool());
        const at::Tensor before = randomState(x.device());
        setRandomState(x.device(), context->saved_data["random"].toTensor());
        at::Tensor y;
        {
            const at::AutoGradMode on(true);
            y = c10::static_intrusive_pointer_cast<Holder>(context->saved_data["body"].toCapsule())->body(x);
        }
        setRandomState(x.device(), before);
        torch::autograd::backward({y}, {gradients[0]});
        return {x.grad(), at::Tensor(), at::Tensor()};
    }
};

} // namespace

at::Tensor recomputed(const at::Tensor& x, RegionBody body)
{
    at::Tensor anchor = at::empty({0}, x.options().dtype(at::kFloat).requires_grad(false));
    anchor.set_requires_grad(true);
    return Recompute::apply(x, anchor, c10::make_intrusive<Holder>(std::move(body)));
}

} // namespace loadline
