// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace loadline {

using RegionBody = std::function<at::Tensor(const at::Tensor&)>;

/// Runs `body` without saving anything, and again in backward, with the random numbers of the first time (Chen et al., arXiv 1604.06174).
/// What `body` refers to must live until the backward pass is done. Inner backward passes run hooks as the outer one does.
at::Tensor recomputed(const at::Tensor& x, RegionBody body);

} // namespace loadline
