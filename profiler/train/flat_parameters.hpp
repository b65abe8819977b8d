// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cluster/recipe.hpp"
#include "core/cost/traffic.hpp"
#include "core/model/description.hpp"
#include "profiler/device/communicator.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace loadline {

/// One parameter, or the columns of it that one slice of a linear has.
struct FlatEntry {
    const Parameter* parameter = nullptr;
    std::vector<std::int64_t> shape; ///< as the network uses it
    std::int64_t firstColumn = -1;   ///< of the input axis; -1: the whole parameter
    bool inByOut = false;            ///< the input axis is dimension 0
    std::int64_t offset = 0;         ///< in the flat buffer

    [[nodiscard]] std::int64_t count() const;
    /// The part of a whole parameter's value that this entry holds.
    [[nodiscard]] at::Tensor cut(const at::Tensor& whole) const;
};

/// The ranks that share a copy, and those that hold the same shard of other copies; shared by all units of one group size.
struct GroupPair {
    std::int64_t group = 1;   ///< ranks that share one copy
    CommunicatorPtr shards;   ///< of one copy; null if group is 1
    CommunicatorPtr replicas; ///< of one shard; null if there is one copy
    std::int64_t replicaCount = 1;
};

/// Parameters that are stored, gathered and reduced together: those of a unit, or of one slice of it, trainable and frozen ones apart.
/// One flat buffer padded to whole ranks, of which each rank of the group keeps its part.
class FlatParameters {
public:
    /// `unit`: that stores them, an index in CostTable::units. `place`: where their tensors live.
    FlatParameters(std::vector<FlatEntry> entries, bool trainable, const GroupPair& groups, const PrecisionRecipe& precision,
                   std::size_t unit, c10::Device place);

    /// Fills in the starting values; needs each whole parameter for a moment.
    void initialise(std::uint64_t seed);
    /// Takes this rank's part of one parameter out of its whole value. `into` is a tensor like `local()`.
    void scatterOne(const at::Tensor& into, const Parameter& parameter, const at::Tensor& whole) const;
    /// Writes this rank's view of everything into whole values (collective over the group): one tensor an entry, the size of its whole
    /// parameter.
    void gatherWhole(const at::Tensor& from, std::vector<at::Tensor>& wholes) const;

    [[nodiscard]] bool sharded() const { return m_groups.group > 1; }
    [[nodiscard]] std::size_t unit() const { return m_unit; }
    [[nodiscard]] bool trainable() const { return m_trainable; }
    [[nodiscard]] const GroupPair& groups() const { return m_groups; }
    [[nodiscard]] const std::vector<FlatEntry>& entries() const { return m_entries; }
    [[nodiscard]] std::int64_t padded() const { return m_padded; }            ///< elements of the flat buffer
    [[nodiscard]] std::int64_t localCount() const { return m_local.numel(); } ///< elements that this rank stores
    [[nodiscard]] const at::Tensor& local() const { return m_local; }
    [[nodiscard]] at::Tensor& gradient() { return m_gradient; } ///< of `local`, undefined when there is none
    std::vector<at::Tensor>& optimizerState() { return m_state; }

    [[nodiscard]] at::ScalarType gatheredType() const { return m_gatheredType; }
    [[nodiscard]] at::ScalarType reducedType() const { return m_reducedType; }
    /// A replicated buffer is used as it stands.
    [[nodiscard]] bool usedInPlace() const { return !sharded() && m_gatheredType == m_local.scalar_type(); }

    /// Starts to fill `full` (padded() elements of gatheredType()) with everybody's part.
    PendingPtr gather(const at::Tensor& full, Traffic& traffic) const;

    /// Views of `full` in the shapes of the entries.
    [[nodiscard]] std::vector<at::Tensor> views(const at::Tensor& full) const;

private:
    std::vector<FlatEntry> m_entries;
    bool m_trainable;
    std::size_t m_unit;
    const GroupPair& m_groups;
    std::int64_t m_padded = 0;
    at::Tensor m_local;
    at::Tensor m_gradient;
    std::vector<at::Tensor> m_state;
    at::ScalarType m_gatheredType;
    at::ScalarType m_reducedType;
};

/// The tensor type of a recipe's bytes per parameter in a compute mode.
at::ScalarType gatheredTypeOf(const PrecisionRecipe& precision);

/// Gives a tensor's memory back without touching the tensor, so that views which autograd saved see what is gathered into it later.
void freeStorage(const at::Tensor& tensor);
/// Takes memory again, uninitialised, as much as it had when it was made.
void takeStorage(const at::Tensor& tensor, std::int64_t bytes);

} // namespace loadline
