// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/plan_document.hpp"
#include "profiler/program/rank.hpp"
#include "profiler/train/trainer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace loadline {
namespace {

double median(std::vector<double> values)
{
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Seconds of each unit over the steps, the first left out: it touches memory and connects peers.
class UnitHistory {
public:
    void add(const std::vector<UnitSeconds>& units) { m_steps.push_back(units); }

    void tell(int rank) const
    {
        const std::size_t from = m_steps.size() > 1 ? 1 : 0;
        for (std::size_t unit = 0; !m_steps.empty() && unit < m_steps.front().size(); ++unit) {
            const auto of = [&](double UnitSeconds::*member) {
                std::vector<double> values;
                for (std::size_t step = from; step < m_steps.size(); ++step)
                    values.push_back(m_steps[step][unit].*member);
                return Seconds(median(std::move(values)));
            };
            WorkerUnit event;
            event.rank = rank;
            event.unit = unit;
            event.forward = of(&UnitSeconds::forward);
            event.backward = of(&UnitSeconds::backward);
            event.gather = of(&UnitSeconds::gather);
            event.reduce = of(&UnitSeconds::reduce);
            putEvent(event);
        }
    }

private:
    std::vector<std::vector<UnitSeconds>> m_steps;
};

/// The plan that a request holds. Errors as readPlan; a document without a plan.
Result<Plan> planOf(const TrainRequest& request)
{
    auto saved = readPlan(request.plan, "the plan");
    if (!saved.ok())
        return saved.error();
    if (!saved->document.outcome.plan)
        return invalidInput("the plan says that nothing fits its budget, so there is nothing to train; raise the budget and plan again");
    return *std::move(saved->document.outcome.plan);
}

ExitCode steps(Trainer& trainer, const TrainRequest& request, int rank, bool unsharded)
{
    UnitHistory history;
    const std::int64_t saveStep = request.saveStep > 0 ? request.saveStep : trainer.stepsDone() + request.steps;
    for (std::int64_t step = 0; step < request.steps; ++step) {
        if (rankStopAsked())
            return failRank(RunOutcome::Cancelled, "stopped on request", kFailed);
        putEvent(trainer.step());
        history.add(trainer.unitSeconds());
        if (!unsharded && !request.save.empty() && trainer.stepsDone() == saveStep) {
            if (const auto saved = trainer.save(request.save); !saved.ok())
                return failRank(RunOutcome::Failed, saved.error().message, kFailed);
        }
    }
    if (!unsharded) {
        putEvent(WorkerTimeline{rank, trainer.timeline()});
        history.tell(rank);
    }
    return kDone;
}

} // namespace

ExitCode trainRank(const TrainRequest& request, const Rendezvous& rendezvous, ComputeDevice& device, bool unsharded)
{
    const auto plan = planOf(request);
    if (!plan.ok())
        return failRank(plan.error());
    CostTable table = plan->table;
    Choice choice = plan->choice;
    if (unsharded) {
        auto single = unshardedTable(table);
        if (!single.ok())
            return failRank(single.error());
        table = *std::move(single);
        choice.assign(table.units.size(), 0);
    }
    const auto world = rendezvous.ranks > 1 ? device.join(rendezvous) : nullptr;
    TrainingOptions options;
    options.seed = request.seed;
    options.data = request.data;
    options.learningRate = request.learningRate;
    options.clip = request.clip;
    options.device = &device;
    auto trainer = Trainer::create(table, choice, world.get(), options);
    if (!trainer.ok())
        return failRank(RunOutcome::Failed, trainer.error().message, kWrongRequest);
    if (!request.resume.empty()) {
        if (const auto resumed = (*trainer)->resume(request.resume); !resumed.ok())
            return failRank(RunOutcome::Failed, resumed.error().message, kWrongRequest);
    }
    putEvent(WorkerRank{rendezvous.rank, RankState::Ready, getpid(), ""});
    const ExitCode code = steps(**trainer, request, rendezvous.rank, unsharded);
    if (world && code == kDone)
        world->barrier(); // nobody leaves while another one still listens
    return code;
}

} // namespace loadline
