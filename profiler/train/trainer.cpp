// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/train/trainer.hpp"

#include <ATen/Context.h>

#include <fmt/format.h>

#include <chrono>

namespace loadline {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::optional<Error> faultOf(const Setup& setup, Communicator* world)
{
    const std::int64_t ranks = world ? world->size() : 1;
    if (setup.cluster.ranks() != ranks)
        return invalidInput(
            fmt::format("the plan is for {} ranks, but {} run; start as many as the plan has", setup.cluster.ranks(), ranks));
    const PrecisionRecipe& precision = setup.precision;
    const bool known = (precision.compute == ComputeMode::Fp32 || precision.compute == ComputeMode::Bf16) && precision.weight == 4 &&
                       precision.master == 0 && precision.gradient == 4;
    if (!known)
        return invalidInput(fmt::format("precision {} cannot be trained in here; plan with fp32 or bf16-mixed", precision.name));
    if (setup.rules.replicatedIsRootUnit || setup.rules.padsDimension0)
        return invalidInput(
            fmt::format("the plan follows the rules of '{}'; plan with --runtime loadline to train it here", setup.rules.name));
    return std::nullopt;
}

/// Dropout draws from libtorch's own generator: one a process, so threads that share it draw in no order.
void seedDropout(c10::Device place, std::uint64_t seed, std::int64_t step, std::int64_t micro)
{
    auto generator = at::globalContext().defaultGenerator(place);
    const std::lock_guard lock(generator.mutex());
    generator.set_current_seed(seed * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(step) * 1000003 +
                               static_cast<std::uint64_t>(micro));
}

/// On a GPU autograd runs backward in a thread of its own, and a process has one rank.
MeterReach reachOf(const ComputeDevice& device)
{
    return device.shared() ? MeterReach::Thread : MeterReach::Process;
}

Batch moved(const Batch& batch, c10::Device place)
{
    return {batch.tokens.to(place), batch.targets.to(place), batch.labels.defined() ? batch.labels.to(place) : at::Tensor()};
}

/// The model with the setup's dropout instead of its own.
std::shared_ptr<const Model> modelOf(const Setup& setup)
{
    if (!setup.dropout)
        return setup.model;
    auto model = std::make_shared<Model>(*setup.model);
    for (Operator& op : model->operators) {
        if (auto* dropout = std::get_if<DropoutTraits>(&op.traits))
            dropout->probability = *setup.dropout;
        if (auto* attention = std::get_if<AttentionTraits>(&op.traits))
            attention->dropout = *setup.dropout;
    }
    return model;
}

} // namespace

Result<std::unique_ptr<Trainer>> Trainer::create(const CostTable& table, const Choice& choice, Communicator* world,
                                                 const TrainingOptions& options)
{
    if (auto fault = faultOf(table.setup, world))
        return *fault;
    std::unique_ptr<Trainer> trainer(new Trainer);
    trainer->m_options = options;
    if (options.device == nullptr) {
        auto cpu = openDevice("cpu", 0);
        if (!cpu)
            return cpu.error();
        trainer->m_ownDevice = std::move(*cpu);
        trainer->m_options.device = trainer->m_ownDevice.get();
    }
    ComputeDevice& device = *trainer->m_options.device;
    device.meter();
    trainer->m_meter = std::make_unique<MemoryMeter>();
    const MeterScope metered(*trainer->m_meter, reachOf(device));
    trainer->m_table = table;
    trainer->m_choice = choice;
    trainer->m_world = world;
    auto network = Network::build(modelOf(table.setup));
    if (!network)
        return network.error();
    if (network->mostTokens() > 0 && table.setup.sequence > network->mostTokens())
        return invalidInput(fmt::format("the plan has sequences of {} tokens, but model {} has {} positions; plan with fewer",
                                        table.setup.sequence, table.setup.model->name, network->mostTokens()));
    trainer->m_network = std::make_unique<Network>(*std::move(network));
    const Network& built = *trainer->m_network;
    auto data = Data::open(options.data, {built.vocabulary(), table.setup.sequence, built.masked(), built.labels()}, options.seed);
    if (!data)
        return data.error();
    trainer->m_data = std::make_unique<Data>(*std::move(data));
    auto optimizer = Optimizer::make(table.setup.optimizer, options.learningRate);
    if (!optimizer)
        return optimizer.error();
    trainer->m_optimizer = std::make_unique<Optimizer>(*std::move(optimizer));
    trainer->m_observer = std::make_unique<Observer>(*trainer->m_meter, device, table.units.size());
    trainer->m_executor =
        std::make_unique<Executor>(*trainer->m_network, trainer->m_table, trainer->m_choice, world, *trainer->m_observer, device.place());
    for (const auto& flat : trainer->m_executor->flats())
        flat->initialise(options.seed);
    trainer->m_optimizer->prepare(trainer->m_executor->flats());
    return trainer;
}

Trainer::~Trainer() = default;

WorkerStep Trainer::step()
{
    const MeterScope metered(*m_meter, reachOf(*m_options.device));
    const Setup& setup = m_table.setup;
    const int rank = m_world ? m_world->rank() : 0;
    const std::int64_t ranks = m_world ? m_world->size() : 1;
    ++m_step;
    WorkerStep figures;
    figures.rank = rank;
    figures.step = m_step;
    m_executor->clearTraffic();
    ComputeDevice& device = *m_options.device;
    device.synchronize();
    device.resetPeaks();
    m_observer->beginStep();
    const auto started = Clock::now();
    for (std::int64_t micro = 0; micro < setup.accumulation; ++micro) {
        const std::int64_t number = micro * ranks + rank; // among those of all ranks: what it draws and reads is the same under every plan
        seedDropout(device.place(), m_options.seed, m_step, number);
        figures.loss += m_executor->microStep(moved(m_data->batch(m_step, number * setup.batch, setup.batch), device.place()),
                                              1.0 / static_cast<double>(setup.accumulation), micro + 1 == setup.accumulation);
    }
    figures.loss /= static_cast<double>(setup.accumulation);
    m_observer->begin(Phase::Step, m_table.units.size() - 1);
    m_optimizer->step(m_executor->flats(), static_cast<double>(ranks), m_options.clip, m_world);
    m_executor->reducer().clear();
    m_observer->end();
    device.synchronize();
    figures.seconds = Seconds(secondsSince(started));
    m_observer->endStep();
    for (const UnitSeconds& unit : m_observer->seconds()) {
        figures.forward += Seconds(unit.forward);
        figures.backward += Seconds(unit.backward);
    }
    figures.optimizer = Seconds(m_observer->optimizer());
    figures.exposed = Seconds(m_observer->waited());
    figures.peak = m_observer->peak();
    if (!device.place().is_cpu())
        figures.reserved = device.memory().reservedPeak;
    figures.traffic = m_executor->traffic();
    return figures;
}

const std::vector<TimelineEvent>& Trainer::timeline() const
{
    return m_observer->events();
}

const std::vector<UnitSeconds>& Trainer::unitSeconds() const
{
    return m_observer->seconds();
}

CategoryBytes Trainer::alive() const
{
    return m_meter->alive();
}

CategoryBytes Trainer::atPeak() const
{
    return m_observer->atPeak();
}

at::Tensor Trainer::logits(const at::Tensor& tokens)
{
    return m_executor->logits(tokens.to(m_options.device->place()));
}

Result<CostTable> unshardedTable(const CostTable& table)
{
    Setup setup = table.setup;
    setup.accumulation *= setup.cluster.ranks();
    setup.cluster.nodes = 1;
    setup.cluster.gpusPerNode = 1;
    setup.groups = {1};
    setup.granularities = {1};
    setup.recomputedBlocks = 0;
    return buildCostTable(setup);
}

} // namespace loadline
