// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/cost/cost_table.hpp"
#include "core/exchange/worker.hpp"
#include "profiler/train/data.hpp"
#include "profiler/train/executor.hpp"
#include "profiler/train/optimizer.hpp"

#include <memory>
#include <string>

namespace loadline {

struct TrainingOptions {
    ComputeDevice* device = nullptr; ///< null: this machine's CPU
    std::uint64_t seed = 1;
    std::string data = "random";
    double learningRate = 1e-3;
    double clip = 0; ///< global norm; 0: not clipped
};

/// One rank's training of a plan. One thread; tensors are counted by a meter of its own.
class Trainer {
public:
    /// `table` and `choice` are a plan for as many ranks as `world` has (null: one). Errors: a model, precision or optimizer that cannot be
    /// trained here, a plan for another number of ranks, unreadable data. Collective.
    static Result<std::unique_ptr<Trainer>> create(const CostTable& table, const Choice& choice, Communicator* world,
                                                   const TrainingOptions& options);
    ~Trainer();

    /// One optimizer step; throws std::exception where a peer dies or memory runs out. `rank` and `step` of the result are filled in.
    WorkerStep step();

    /// Memory of the last step's last micro-step and optimizer, event by event.
    [[nodiscard]] const std::vector<TimelineEvent>& timeline() const;
    /// Seconds of the last step by unit.
    [[nodiscard]] const std::vector<UnitSeconds>& unitSeconds() const;
    [[nodiscard]] CategoryBytes alive() const;  ///< between steps: states and nothing else
    [[nodiscard]] CategoryBytes atPeak() const; ///< of the last step

    [[nodiscard]] std::int64_t stepsDone() const { return m_step; }
    /// The whole value of a parameter, put together from all ranks. Collective.
    at::Tensor wholeParameter(const std::string& name);
    /// What the network says of tokens [batch, tokens] now. Collective.
    at::Tensor logits(const at::Tensor& tokens);

    /// Parameters, optimizer state and step, whole, into a folder; rank 0 writes. Collective. Errors: the folder cannot be written.
    Result<bool> save(const std::string& folder);
    /// Goes on from what `save` wrote, under whatever plan and number of ranks. Errors: missing or damaged files, another model.
    Result<bool> resume(const std::string& folder);

private:
    Trainer() = default;
    [[nodiscard]] std::vector<at::Tensor> localTensors(FlatParameters& flat) const;

    // The order matters: what counts memory goes last.
    std::unique_ptr<MemoryMeter> m_meter;
    ComputeDevicePtr m_ownDevice; ///< where none was given
    CostTable m_table;
    Choice m_choice;
    Communicator* m_world = nullptr;
    TrainingOptions m_options; ///< with a device
    std::unique_ptr<Network> m_network;
    std::unique_ptr<Observer> m_observer;
    std::unique_ptr<Data> m_data;
    std::unique_ptr<Optimizer> m_optimizer;
    std::unique_ptr<Executor> m_executor;
    std::int64_t m_step = 0;
};

/// The same plan table for one process that trains the whole global batch in micro-steps of the same batch: what a plan is held against.
Result<CostTable> unshardedTable(const CostTable& table);

} // namespace loadline
