// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/cost/cost_table.hpp"
#include "profiler/model/network.hpp"
#include "profiler/train/data.hpp"
#include "profiler/train/observer.hpp"
#include "profiler/train/reducer.hpp"

#include <map>
#include <memory>
#include <vector>

namespace loadline {

/// Runs a network's forward and backward pass as a plan says: gathers units before they run, one ahead, frees them behind, reduces their
/// gradients, recomputes regions. One rank, one thread.
class Executor final : public Host {
public:
    /// `world` is null for a single rank. Collective: all ranks construct it with the same plan. Keeps references to the arguments.
    Executor(const Network& network, const CostTable& table, const Choice& choice, Communicator* world, Observer& observer,
             c10::Device place);
    ~Executor() override;

    /// Forward and backward of one micro-step; gradients are scaled by `scale`. Returns the loss.
    double microStep(const Batch& batch, double scale, bool last);
    /// Forward alone, for looking at what the network says.
    at::Tensor logits(const at::Tensor& tokens);

    at::Tensor operate(std::size_t op, const std::function<at::Tensor(const Weights&)>& body) override;
    at::Tensor linear(std::size_t op, const at::Tensor& x) override;
    at::Tensor region(std::size_t first, std::size_t last, const at::Tensor& x,
                      const std::function<at::Tensor(const at::Tensor&)>& body) override;

    [[nodiscard]] const std::vector<std::unique_ptr<FlatParameters>>& flats() const { return m_flats; } ///< in order of forward
    [[nodiscard]] Reducer& reducer() { return *m_reducer; }
    [[nodiscard]] const Traffic& traffic() const { return m_traffic; }
    void clearTraffic() { m_traffic = Traffic(); }

private:
    /// What a unit uses: its own slices, then the units that it borrows from.
    struct UnitPieces {
        std::vector<Piece*> slices; ///< one where it is not split
        std::vector<Piece*> borrowed;
    };
    friend struct Recomputation;

    void makeFlats(const Unit& unit, std::size_t index);
    void makePieces();
    [[nodiscard]] bool usesPhases() const;
    CommunicatorPtr makeGroup(const std::vector<int>& members, const std::string& name, int perNode);
    const GroupPair& groupOf(std::int64_t group);
    at::Tensor scope(std::size_t unit, const std::vector<Piece*>& pieces, const std::function<at::Tensor()>& body);
    void finishGather(Piece& piece);
    void enterForward(std::size_t unit, const std::vector<Piece*>& pieces);
    void enterBackward(std::size_t unit, const std::vector<Piece*>& pieces, bool recomputed);
    void leaveBackward();
    void prefetch(std::size_t position, bool backward, bool inRegion);
    [[nodiscard]] Weights weightsOf(std::size_t op) const;
    [[nodiscard]] const Strategy& strategyOf(std::size_t unit) const { return m_table.options(unit)[m_choice[unit]].strategy; }
    at::Tensor recompute(const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& body);

    const Network& m_network;
    const CostTable& m_table;
    const Choice& m_choice;
    Communicator* m_world;
    Observer& m_observer;
    c10::Device m_place;
    CommunicatorPtr m_everybody; ///< all ranks, in two phases; null where the cluster's collectives are flat
    std::map<std::int64_t, std::unique_ptr<GroupPair>> m_groups;
    std::vector<std::unique_ptr<FlatParameters>> m_flats;
    std::vector<std::vector<std::vector<FlatParameters*>>> m_flatsOf; ///< [unit][slice]
    std::vector<std::unique_ptr<Piece>> m_pieces;                     ///< in order of forward
    std::map<const Piece*, std::size_t> m_position;
    std::vector<std::size_t> m_unitAt; ///< by position
    std::vector<UnitPieces> m_piecesOf;
    std::vector<std::size_t> m_unitOf; ///< by operator
    std::unique_ptr<Reducer> m_reducer;
    Traffic m_traffic;

    int m_inside = -1;             ///< unit whose scope is open
    bool m_inRegion = false;       ///< inside a recomputed region, forward or again
    bool m_again = false;          ///< its forward runs again
    bool m_training = false;       ///< a backward pass will follow
    std::vector<Piece*> m_current; ///< whose backward runs
};

} // namespace loadline
