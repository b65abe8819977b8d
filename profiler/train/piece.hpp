// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profiler/train/flat_parameters.hpp"

#include <functional>

namespace loadline {

/// One use of parameters that are gathered together: of a unit, of one slice of it, or of a unit whose parameters another one borrows.
/// Owns the gathered copy and the leaves that autograd differentiates; each use has leaves of its own, so that the gradients of tied
/// parameters come use by use. Lives as long as the training.
class Piece {
public:
    /// `keeps`: the copy stays from forward to the end of this use's backward. `skipsBackward`: backward does not read it.
    Piece(std::vector<FlatParameters*> flats, bool keeps, bool skipsBackward);

    /// Called when the gradients of all leaves are there, in backward.
    void onGradients(std::function<void(Piece&)> callback) { m_onGradients = std::move(callback); }

    /// Starts to gather unless it is there or on its way.
    void startGather(Traffic& traffic);
    [[nodiscard]] bool gathering() const { return !m_pending.empty(); } ///< started and not waited for
    /// Waits for what was started.
    void finishGather();
    /// Frees the gathered copy. In forward a kept copy stays.
    void release(bool backward);

    [[nodiscard]] bool gathers() const { return m_gathers; } ///< it has something to gather or copy
    [[nodiscard]] bool gathersInBackward() const { return m_gathers && !m_keeps && !m_skipsBackward; }
    [[nodiscard]] bool hasTrainable() const { return m_trainableLeaves > 0; }
    /// Leaves in the order of the flats' entries.
    [[nodiscard]] const std::vector<at::Tensor>& leaves() const { return m_leaves; }
    [[nodiscard]] const std::vector<FlatParameters*>& flats() const { return m_flats; }
    /// The flat that a leaf belongs to, and its entry there.
    [[nodiscard]] const FlatEntry& entryOf(std::size_t leaf) const;

    /// For the hook.
    void gradientArrived();

private:
    std::vector<FlatParameters*> m_flats;
    bool m_keeps;
    bool m_skipsBackward;
    bool m_gathers = false;
    bool m_present = false;
    std::vector<at::Tensor> m_fulls; ///< by flat; its storage is taken while gathered
    std::vector<std::int64_t> m_bytes;
    std::vector<at::Tensor> m_leaves;
    std::vector<PendingPtr> m_pending;
    std::size_t m_trainableLeaves = 0;
    std::size_t m_arrived = 0;
    std::function<void(Piece&)> m_onGradients;
};

} // namespace loadline
