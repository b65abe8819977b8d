// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cluster/library.hpp"
#include "core/cluster/recipe.hpp"
#include "core/cost/setup.hpp"
#include "core/model/reader.hpp"

#include <memory>
#include <string>

namespace loadline::testing {

/// A bundled model on a bundled cluster, as a user would ask for it.
inline Setup bundledSetup(const std::string& model, const std::string& cluster, const std::string& precision, std::int64_t sequence)
{
    Setup setup;
    setup.model = std::make_shared<const Model>(loadModel(model).value());
    setup.cluster = loadCluster(cluster).value();
    setup.precision = loadPrecision(precision).value();
    setup.optimizer = loadOptimizer("adamw").value();
    setup.rules = loadlineRules();
    setup.sequence = sequence;
    return setup;
}

/// Small and quick; the overhead left out so that it does not hide all else.
inline Setup tinyGpt()
{
    Setup setup = bundledSetup("gpt-tiny", "8xH100-80", "fp32", 64);
    setup.overhead = Bytes();
    return setup;
}

inline Setup llama8b()
{
    return bundledSetup("llama3-8b", "8xH100-80", "bf16-mixed", 4096);
}

} // namespace loadline::testing
