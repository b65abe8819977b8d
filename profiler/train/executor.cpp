// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/train/executor.hpp"

#include "core/cost/communication.hpp"
#include "profiler/train/recomputation.hpp"
#include "profiler/train/two_phase.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/linear.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

namespace loadline {
namespace {

constexpr std::int64_t kBucketBytes = std::int64_t{4} << 20; ///< replicated gradients are all-reduced in ranges of at least this

/// Columns [first, first + count) of slice s: the first `in mod g` slices have one more (core/cost/option_sizes).
std::pair<std::int64_t, std::int64_t> columnsOf(std::int64_t in, int slices, int slice)
{
    const std::int64_t whole = in / slices;
    const std::int64_t longer = in % slices;
    return {slice * whole + std::min<std::int64_t>(slice, longer), whole + (slice < longer ? 1 : 0)};
}

} // namespace

Executor::Executor(const Network& network, const CostTable& table, const Choice& choice, Communicator* world, Observer& observer,
                   c10::Device place)
    : m_network(network), m_table(table), m_choice(choice), m_world(world), m_observer(observer), m_place(place),
      m_unitOf(network.model().operators.size(), 0)
{
    m_flatsOf.resize(table.units.size());
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        for (const std::size_t op : table.units[unit].operators)
            m_unitOf[op] = unit;
        makeFlats(table.units[unit], unit);
    }
    makePieces();
    std::vector<FlatParameters*> flats;
    for (const auto& flat : m_flats)
        flats.push_back(flat.get());
    if (world && usesPhases()) {
        std::vector<int> all;
        for (int rank = 0; rank < world->size(); ++rank)
            all.push_back(rank);
        m_everybody = twoPhase(world->subgroup(all, "everybody"), static_cast<int>(replicaGroup(table.setup.cluster, 1).perNode));
    }
    m_reducer =
        std::make_unique<Reducer>(flats, m_everybody ? m_everybody.get() : world, observer, table.setup.accumulation > 1, kBucketBytes);
    for (const auto& piece : m_pieces) {
        m_reducer->preset(*piece);
        piece->onGradients([this](Piece& done) {
            done.release(true);
            m_reducer->take(done, m_traffic);
        });
    }
}

Executor::~Executor() = default;

bool Executor::usesPhases() const
{
    return m_table.setup.cluster.hierarchical && m_table.setup.cluster.nodes > 1;
}

CommunicatorPtr Executor::makeGroup(const std::vector<int>& members, const std::string& name, int perNode)
{
    auto flat = m_world->subgroup(members, name);
    return usesPhases() ? twoPhase(std::move(flat), perNode) : std::move(flat);
}

const GroupPair& Executor::groupOf(std::int64_t group)
{
    auto& pair = m_groups[group];
    if (pair)
        return *pair;
    pair = std::make_unique<GroupPair>();
    pair->group = group;
    if (m_world == nullptr)
        return *pair;
    const int ranks = m_world->size();
    const int rank = m_world->rank();
    const int d = static_cast<int>(group);
    pair->replicaCount = ranks / d;
    std::vector<int> members;
    if (d > 1) {
        for (int i = 0; i < d; ++i)
            members.push_back(rank / d * d + i);
        pair->shards = makeGroup(members, "shards" + std::to_string(d) + "." + std::to_string(rank / d),
                                 static_cast<int>(shardGroup(m_table.setup.cluster, group).perNode));
    }
    if (d > 1 && ranks > d) {
        members.clear();
        for (int i = rank % d; i < ranks; i += d)
            members.push_back(i);
        pair->replicas = makeGroup(members, "replicas" + std::to_string(d) + "." + std::to_string(rank % d),
                                   static_cast<int>(replicaGroup(m_table.setup.cluster, group).perNode));
    }
    return *pair;
}

void Executor::makeFlats(const Unit& unit, std::size_t index)
{
    const Strategy& strategy = strategyOf(index);
    const Model& model = m_network.model();
    for (int slice = 0; slice < strategy.slices; ++slice) {
        std::vector<FlatEntry> trainable;
        std::vector<FlatEntry> frozen;
        for (const std::size_t op : unit.holds) {
            const auto* linear = std::get_if<LinearTraits>(&model.operators[op].traits);
            const bool inByOut = storesInByOut(model, model.operators[op]);
            for (const Parameter& parameter : model.operators[op].parameters) {
                FlatEntry entry{&parameter, parameter.shape, -1, inByOut, 0};
                if (strategy.slices > 1 && parameter.shape.size() < 2 && slice > 0)
                    continue; // the bias goes with the first slice
                if (strategy.slices > 1 && linear && parameter.shape.size() >= 2) {
                    const auto [first, count] = columnsOf(linear->in, strategy.slices, slice);
                    entry.firstColumn = first;
                    entry.shape[inByOut ? 0 : 1] = count;
                }
                (parameter.trainable ? trainable : frozen).push_back(std::move(entry));
            }
        }
        const GroupPair& groups = groupOf(slice < strategy.shardedSlices ? strategy.group : 1);
        auto& made = m_flatsOf[index].emplace_back();
        for (const bool trains : {true, false}) {
            auto& entries = trains ? trainable : frozen;
            if (entries.empty())
                continue;
            m_flats.push_back(
                std::make_unique<FlatParameters>(std::move(entries), trains, groups, m_table.setup.precision, index, m_place));
            made.push_back(m_flats.back().get());
        }
    }
}

void Executor::makePieces()
{
    const auto& operators = m_network.model().operators;
    m_piecesOf.resize(m_table.units.size());
    const auto add = [&](std::size_t user, const std::vector<FlatParameters*>& flats, bool keeps, bool skips) {
        m_position[m_pieces.emplace_back(std::make_unique<Piece>(flats, keeps, skips)).get()] = m_unitAt.size();
        m_unitAt.push_back(user);
        return m_pieces.back().get();
    };
    for (std::size_t unit = 0; unit < m_table.units.size(); ++unit) {
        const auto& runs = m_table.units[unit].operators;
        const bool embeds = !runs.empty() && std::all_of(runs.begin(), runs.end(), [&](std::size_t op) {
            return std::holds_alternative<EmbeddingTraits>(operators[op].traits);
        });
        const Strategy& strategy = strategyOf(unit);
        // Tied weights first: an operator's weights begin with the one it shares.
        for (const std::size_t owner : m_table.units[unit].borrows)
            m_piecesOf[unit].borrowed.push_back(add(unit, m_flatsOf[owner].front(), !strategyOf(owner).reshardAfterForward, false));
        for (const auto& flats : m_flatsOf[unit]) {
            if (!flats.empty())
                m_piecesOf[unit].slices.push_back(
                    add(unit, flats, !strategy.reshardAfterForward, embeds && m_table.setup.rules.embeddingsSkipBackward));
        }
    }
}

Weights Executor::weightsOf(std::size_t op) const
{
    const Operator& which = m_network.model().operators[op];
    Weights weights;
    const auto take = [&](const Piece& piece, const Operator& owner) {
        for (const Parameter& parameter : owner.parameters) {
            for (std::size_t leaf = 0; leaf < piece.leaves().size(); ++leaf) {
                if (piece.entryOf(leaf).parameter == &parameter)
                    weights.push_back(piece.leaves()[leaf]);
            }
        }
    };
    const UnitPieces& pieces = m_piecesOf[m_unitOf[op]];
    if (!which.sharesWith.empty()) {
        const auto& operators = m_network.model().operators;
        const auto owner = std::find_if(operators.begin(), operators.end(), [&](const Operator& o) { return o.name == which.sharesWith; });
        const std::size_t before = weights.size();
        for (const Piece* piece : pieces.borrowed)
            take(*piece, *owner);
        if (weights.size() == before) { // both ends in one unit
            for (const Piece* piece : pieces.slices)
                take(*piece, *owner);
        }
    }
    for (const Piece* piece : pieces.slices)
        take(*piece, which);
    return weights;
}

void Executor::prefetch(std::size_t position, bool backward, bool inRegion)
{
    const RuntimeRules& rules = m_table.setup.rules;
    if ((backward ? rules.gatherAheadBackward : rules.gatherAheadForward) == 0)
        return;
    if (!backward) {
        if (position + 1 < m_pieces.size() && m_pieces[position + 1]->gathers())
            m_pieces[position + 1]->startGather(m_traffic);
        return;
    }
    if (position == 0)
        return;
    // A recomputed region gathers for its own forward first.
    Piece& next = *m_pieces[position - 1];
    const std::size_t unit = m_unitAt[position - 1];
    const bool nextInRegion = strategyOf(unit).recompute;
    const bool sameLayer = m_table.units[unit].layer == m_table.units[m_unitAt[position]].layer;
    if (next.gathersInBackward() && (!nextInRegion || (inRegion && sameLayer)))
        next.startGather(m_traffic);
}

void Executor::finishGather(Piece& piece)
{
    if (!piece.gathering())
        return;
    m_observer.beginWait(WaitKind::Gather, m_unitAt[m_position.at(&piece)]);
    piece.finishGather();
    m_observer.endWait();
}

void Executor::enterForward(std::size_t unit, const std::vector<Piece*>& pieces)
{
    m_observer.begin(m_again ? Phase::Recompute : Phase::Forward, unit);
    for (Piece* piece : pieces) {
        piece->startGather(m_traffic);
        finishGather(*piece);
    }
    if (!pieces.empty() && !m_again)
        prefetch(m_position.at(pieces.back()), false, m_inRegion);
}

void Executor::enterBackward(std::size_t unit, const std::vector<Piece*>& pieces, bool inRegion)
{
    leaveBackward();
    m_observer.begin(Phase::Backward, unit);
    m_current = pieces;
    for (Piece* piece : pieces) {
        if (piece->gathersInBackward())
            piece->startGather(m_traffic);
        finishGather(*piece);
    }
    if (!pieces.empty())
        prefetch(m_position.at(pieces.front()), true, inRegion);
}

/// Frozen parameters have no gradient whose arrival would free them.
void Executor::leaveBackward()
{
    for (Piece* piece : m_current)
        piece->release(true);
    m_current.clear();
}

at::Tensor Executor::scope(std::size_t unit, const std::vector<Piece*>& pieces, const std::function<at::Tensor()>& body)
{
    const int before = std::exchange(m_inside, static_cast<int>(unit));
    enterForward(unit, pieces);
    at::Tensor y = body();
    const bool inRegion = m_inRegion;
    const bool differentiated = y.requires_grad() && at::GradMode::is_enabled();
    if (differentiated)
        y.register_hook([this, unit, pieces, inRegion](const at::Tensor& gradient) {
            enterBackward(unit, pieces, inRegion);
            return gradient;
        });
    for (Piece* piece : pieces)
        piece->release(!m_training); // kept copies stay only where a backward pass follows
    m_inside = before;
    return y;
}

at::Tensor Executor::operate(std::size_t op, const std::function<at::Tensor(const Weights&)>& body)
{
    const std::size_t unit = m_unitOf[op];
    if (m_inside == static_cast<int>(unit))
        return body(weightsOf(op));
    std::vector<Piece*> pieces = m_piecesOf[unit].borrowed;
    pieces.insert(pieces.end(), m_piecesOf[unit].slices.begin(), m_piecesOf[unit].slices.end());
    return scope(unit, pieces, [&] { return body(weightsOf(op)); });
}

at::Tensor Executor::linear(std::size_t op, const at::Tensor& x)
{
    const Operator& which = m_network.model().operators[op];
    const std::size_t unit = m_unitOf[op];
    const bool inByOut = storesInByOut(m_network.model(), which);
    const auto apply = [inByOut](const at::Tensor& input, const Weights& weights) {
        return at::linear(input, inByOut ? weights[0].t() : weights[0], weights.size() > 1 ? weights[1] : at::Tensor());
    };
    const int slices = strategyOf(unit).slices;
    if (slices == 1)
        return operate(op, [&](const Weights& weights) { return apply(x, weights); });
    at::Tensor sum;
    for (int slice = 0; slice < slices; ++slice) {
        const auto columns = columnsOf(std::get<LinearTraits>(which.traits).in, slices, slice);
        Piece* piece = m_piecesOf[unit].slices[static_cast<std::size_t>(slice)];
        const at::Tensor part = scope(unit, {piece}, [&] { return apply(x.narrow(-1, columns.first, columns.second), piece->leaves()); });
        sum = sum.defined() ? sum.add_(part) : part;
    }
    return sum;
}

at::Tensor Executor::region(std::size_t first, std::size_t last, const at::Tensor& x,
                            const std::function<at::Tensor(const at::Tensor&)>& body)
{
    const std::size_t unit = m_unitOf[first];
    const auto& runs = m_table.units[unit].operators;
    const bool isUnit = runs.size() == last - first && runs.front() == first && last - first > 1 && m_inside < 0;
    const auto run = [this, isUnit, unit, body](const at::Tensor& input) {
        if (!isUnit)
            return body(input);
        std::vector<Piece*> pieces = m_piecesOf[unit].borrowed;
        pieces.insert(pieces.end(), m_piecesOf[unit].slices.begin(), m_piecesOf[unit].slices.end());
        return scope(unit, pieces, [&] { return body(input); });
    };
    bool recomputes = m_training && !m_inRegion;
    for (std::size_t op = first; op < last; ++op)
        recomputes = recomputes && strategyOf(m_unitOf[op]).recompute;
    return recomputes ? recompute(x, run) : run(x);
}

at::Tensor Executor::recompute(const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& body)
{
    return recomputed(x, [this, body](const at::Tensor& input) {
        const bool again = at::GradMode::is_enabled();
        if (again)
            leaveBackward();
        const bool before = std::exchange(m_inRegion, true);
        const bool wasAgain = std::exchange(m_again, again);
        at::Tensor y = body(input);
        m_inRegion = before;
        m_again = wasAgain;
        return y;
    });
}

double Executor::microStep(const Batch& batch, double scale, bool last)
{
    m_training = true;
    m_observer.forgetEvents();
    m_reducer->beginMicroStep(last);
    at::Tensor loss = m_network.loss(*this, batch.tokens, batch.targets, batch.labels);
    m_observer.end();
    const double value = loss.detach().to(at::kDouble).item<double>();
    torch::autograd::backward({loss}, {at::full_like(loss, scale)});
    loss = at::Tensor();
    leaveBackward();
    for (const auto& piece : m_pieces)
        piece->release(true); // a frozen one whose output nobody differentiates
    m_reducer->finish(m_traffic);
    m_observer.end();
    m_training = false;
    return value;
}

at::Tensor Executor::logits(const at::Tensor& tokens)
{
    const at::NoGradGuard noGrad;
    at::Tensor out = m_network.logits(*this, tokens);
    for (const auto& piece : m_pieces)
        piece->release(true); // one may have been gathered ahead
    return out;
}

} // namespace loadline
