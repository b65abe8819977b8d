// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/measure/profile.hpp"

#include "profiler/device/failure.hpp"
#include "profiler/device/memory_meter.hpp"
#include "profiler/measure/links_timing.hpp"
#include "profiler/measure/sample.hpp"
#include "profiler/train/flat_parameters.hpp"
#include "profiler/train/optimizer.hpp"

#include <ATen/ops/ones_like.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <set>

namespace loadline {
namespace {

constexpr int kWindows = 5;                                     ///< timed, behind one that is dropped
constexpr int kShortWindows = 3;                                ///< of what is told beside forward and backward
constexpr double kSecondsOfWindow = 0.02;                       ///< several time slices of a few milliseconds
constexpr int kMostInstances = 256;                             ///< of one window
constexpr std::int64_t kBytesOfWindow = std::int64_t{96} << 20; ///< that they may hold together, where there is room
constexpr std::int64_t kBytesOfWeights = std::int64_t{64} << 20;
constexpr std::int64_t kBytesOfSteps = std::int64_t{32} << 20; ///< of parameters in one window of the optimizer

at::ScalarType typeOf(ComputeMode mode)
{
    return mode == ComputeMode::Fp32 ? at::kFloat : mode == ComputeMode::Fp16 ? at::kHalf : at::kBFloat16;
}

/// Lives as long as the process: a process group frees what it was given some time after it is done with it, in a thread of its own.
MemoryMeter& lastingMeter()
{
    static auto* const meter = new MemoryMeter;
    return *meter;
}

/// Measures everything of one request; the same decisions on every rank.
class ProfileRun {
public:
    ProfileRun(Communicator& world, ComputeDevice& device, const ProfileRequest& request, const std::vector<ProfilePoint>& points,
               const ProfileSink& sink)
        : m_world(world), m_device(device), m_request(request), m_points(points), m_sink(sink), m_agreement(world, device),
          m_start(std::chrono::steady_clock::now())
    {
        device.meter();
        for (const Operator& op : request.model.operators)
            m_bytesOfModel += static_cast<double>(op.parameterCount()) * 4;
        m_bytesOfModel = std::min(m_bytesOfModel, static_cast<double>(kBytesOfWeights));
        const double sharers = device.shared() ? world.size() : 1;
        m_room = m_agreement.smallest(static_cast<double>(device.memory().free.count()) / sharers / 2);
        if (device.place().is_cpu())
            m_meter.setLimit(Bytes(static_cast<std::int64_t>(m_room)));
    }

    ~ProfileRun() { m_meter.setLimit(Bytes(0)); }
    ProfileRun(const ProfileRun&) = delete;
    ProfileRun& operator=(const ProfileRun&) = delete;

    void run()
    {
        const auto sizes = stepSizes();
        m_total = static_cast<std::int64_t>(m_points.size() + sizes.size());
        for (const auto size : sizes) {
            if (stop())
                return;
            measureStep(size);
        }
        for (const auto& point : m_points) {
            if (stop())
                return;
            measure(point);
        }
        tell("done");
    }

private:
    /// What one point gave on this rank.
    struct Figures {
        std::vector<double> forward;
        std::vector<double> backward;
        std::vector<double> again;
        std::vector<double> accumulate;
        MemoryUse memory;
    };

    [[nodiscard]] double elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count(); }

    /// True on all ranks where one of them is cancelled or the next point would pass the limit.
    bool stop()
    {
        const bool cancelled = m_sink.cancelled && m_sink.cancelled();
        const bool late = elapsed() + m_longest > m_request.limit.value();
        return m_agreement.largest(cancelled || late ? 1.0 : 0.0) > 0;
    }

    void measure(const ProfilePoint& point)
    {
        const Operator& op = m_request.model.operators[point.op];
        const double started = elapsed();
        OperatorRow row;
        row.key = operatorKey(op);
        row.precision = point.precision;
        if (const auto* attention = std::get_if<AttentionTraits>(&op.traits))
            row.attention = kernelOf(*attention, point);
        row.batch = point.batch;
        row.sequence = op.tokens.of(point.sequence);
        row.slices = point.slices;
        const auto id = std::tuple(point.op, point.precision, point.sequence, point.slices);
        if (!m_full.contains(id)) {
            row.outOfMemory = !timeInto(row, point);
            if (row.outOfMemory)
                m_full.insert(id);
            if (m_world.rank() == 0 && m_sink.op)
                m_sink.op(row);
        }
        ++m_done;
        m_longest = std::max(m_longest, m_agreement.largest(elapsed() - started));
        tell(row.key);
    }

    /// False on all ranks if memory ran out on one.
    bool timeInto(OperatorRow& row, const ProfilePoint& point)
    {
        const SampleSize size{point.batch, point.sequence, point.slices, typeOf(point.precision)};
        MemoryUse use;
        double seconds = 0;
        const bool fits = attempt([&] {
            Sample first(m_request.model, point.op, size, 1, 1, m_device.place());
            first.forward(0);
            first.backward(0); // loads code and makes the threads
            use = first.memory(m_meter);
            seconds = timed(m_device, [&] {
                first.forward(0);
                first.backward(0);
            });
        });
        if (m_agreement.largest(fits ? 0.0 : 1.0) > 0)
            return false;
        const double bytes = m_agreement.largest(static_cast<double>((use.saved + use.workspace).count()));
        const double slowest = m_agreement.largest(seconds);
        Figures figures;
        const bool timedAll = attempt([&] { time(figures, point, size, slowest, bytes); });
        if (m_agreement.largest(timedAll ? 0.0 : 1.0) > 0)
            return false;
        fill(row, figures, use);
        return true;
    }

    void time(Figures& figures, const ProfilePoint& point, const SampleSize& size, double seconds, double bytes)
    {
        const double held = std::min(static_cast<double>(kBytesOfWindow), m_room / 4) / std::max(bytes, 1.0);
        const int instances = std::clamp(static_cast<int>(std::min(kSecondsOfWindow / std::max(seconds, 1e-7), held)), 1, kMostInstances);
        // Between two uses of a weight a step passes over those of the whole model, not only of operators like this one.
        const auto weights = static_cast<double>(m_request.model.operators[point.op].parameterCount()) * 4;
        const int sets = std::clamp(static_cast<int>(m_bytesOfModel / std::max(weights, 1.0)), 1, instances);
        Sample sample(m_request.model, point.op, size, instances, sets, m_device.place());
        const auto each = [&](const std::function<void(int)>& act) {
            return timed(m_device,
                         [&] {
                             for (int i = 0; i < instances; ++i)
                                 act(i);
                         }) /
                   instances;
        };
        m_world.barrier();
        for (int window = 0; window <= kWindows; ++window) {
            const double forward = each([&](int i) { sample.forward(i); });
            const double backward = each([&](int i) { sample.backward(instances - 1 - i); });
            if (window > 0) {
                figures.forward.push_back(forward);
                figures.backward.push_back(backward);
            }
        }
        for (int window = 0; window < kShortWindows; ++window) {
            figures.again.push_back(each([&](int i) { sample.forward(i); }));
            for (int i = 0; i < instances; ++i)
                sample.forget(i);
        }
        if (!sample.hasParameters())
            return;
        sample.accumulate(0); // makes the buffers
        for (int window = 0; window < kShortWindows; ++window)
            figures.accumulate.push_back(each([&](int i) { sample.accumulate(i); }));
    }

    void fill(OperatorRow& row, const Figures& figures, const MemoryUse& use)
    {
        const auto forward = windowOf(figures.forward);
        const auto backward = windowOf(figures.backward);
        row.forward = Seconds(m_agreement.mean(forward.median));
        row.backward = Seconds(m_agreement.mean(backward.median));
        row.forwardSpread = Seconds(m_agreement.mean(forward.spread));
        row.backwardSpread = Seconds(m_agreement.mean(backward.spread));
        row.recompute = Seconds(m_agreement.mean(windowOf(figures.again).median));
        row.accumulate = Seconds(m_agreement.mean(figures.accumulate.empty() ? 0.0 : windowOf(figures.accumulate).median));
        row.windows = kWindows * m_world.size();
        row.outliers = static_cast<int>(std::lround(m_agreement.mean(forward.outliers + backward.outliers) * m_world.size()));
        row.saved = use.saved;
        row.workspace = use.workspace;
    }

    /// The kernel that libtorch takes by itself. On the CPU that is the flash one, which drops nothing out.
    [[nodiscard]] std::string kernelOf(const AttentionTraits& traits, const ProfilePoint& point) const
    {
        if (m_device.place().is_cpu())
            return std::string(
                attentionName(traits.dropout > 0 || traits.headDim != traits.valueDim ? AttentionKind::Math : AttentionKind::Flash));
        ActivationSettings settings;
        settings.batch = point.batch;
        settings.sequence = point.sequence;
        settings.compute = point.precision;
        return std::string(attentionName(chosenAttention(traits, settings)));
    }

    /// False where memory ran out; other faults are thrown on.
    static bool attempt(const std::function<void()>& act)
    {
        try {
            act();
            return true;
        } catch (const std::exception& exception) {
            if (failureOf(exception) != Failure::OutOfMemory)
                throw;
            return false;
        }
    }

    /// From a cache line's worth to the largest operator's parameters, in powers of 8.
    [[nodiscard]] std::vector<std::int64_t> stepSizes() const
    {
        constexpr std::int64_t kLeast = 1024;
        constexpr std::int64_t kMost = std::int64_t{1} << 24;
        std::int64_t largest = 0;
        for (const Operator& op : m_request.model.operators)
            largest = std::max(largest, op.trainableCount());
        std::vector<std::int64_t> sizes;
        for (auto size = kLeast; size < std::min(largest, kMost); size *= 8)
            sizes.push_back(size);
        if (largest > 0)
            sizes.push_back(std::min(largest, kMost));
        return sizes;
    }

    void measureStep(std::int64_t size)
    {
        const auto recipe = loadOptimizer(m_request.optimizer);
        auto optimizer = Optimizer::make(*recipe, 1e-3);
        StepRow row;
        row.optimizer = recipe->name;
        row.parameters = size;
        std::vector<double> seconds;
        const bool fits = attempt([&] { timeStep(*optimizer, size, seconds); });
        if (m_agreement.largest(fits ? 0.0 : 1.0) == 0) {
            const auto window = windowOf(seconds);
            row.seconds = Seconds(m_agreement.mean(window.median));
            row.spread = Seconds(m_agreement.mean(window.spread));
            if (m_world.rank() == 0 && m_sink.step)
                m_sink.step(row);
        }
        ++m_done;
        tell(fmt::format("{} over {} parameters", row.optimizer, size));
    }

    /// Several units of this size in turn, as a model has them.
    void timeStep(Optimizer& optimizer, std::int64_t size, std::vector<double>& seconds)
    {
        const auto units = std::clamp<std::int64_t>(kBytesOfSteps / (4 * size), 1, 64);
        const GroupPair alone;
        const Parameter parameter{"measured", {size}, true};
        std::vector<std::unique_ptr<FlatParameters>> flats;
        for (std::int64_t unit = 0; unit < units; ++unit) {
            std::vector<FlatEntry> entries;
            entries.push_back({&parameter, parameter.shape, -1, false, 0});
            flats.push_back(
                std::make_unique<FlatParameters>(std::move(entries), true, alone, bundledPrecisions().front(), 0, m_device.place()));
            flats.back()->gradient() = at::ones_like(flats.back()->local());
        }
        optimizer.prepare(flats);
        const auto step = [&] { // with what clears the gradients for the next one
            optimizer.step(flats, 1, 0, nullptr);
            for (const auto& flat : flats)
                flat->gradient().zero_();
        };
        step();
        const double once = m_agreement.largest(timed(m_device, step));
        const int repetitions = std::clamp(static_cast<int>(kSecondsOfWindow / std::max(once, 1e-7)), 1, kMostInstances);
        m_world.barrier();
        for (int window = 0; window < kWindows; ++window)
            seconds.push_back(timed(m_device,
                                    [&] {
                                        for (int i = 0; i < repetitions; ++i)
                                            step();
                                    }) /
                              static_cast<double>(repetitions * units));
    }

    void tell(std::string what)
    {
        if (m_world.rank() != 0 || !m_sink.progress)
            return;
        const double passed = elapsed();
        const double left = m_done > 0 ? passed / static_cast<double>(m_done) * static_cast<double>(m_total - m_done) : 0;
        m_sink.progress({m_done, m_total, std::move(what), Seconds(std::clamp(m_request.limit.value() - passed, 0.0, left))});
    }

    Communicator& m_world;
    ComputeDevice& m_device;
    const ProfileRequest& m_request;
    const std::vector<ProfilePoint>& m_points;
    const ProfileSink& m_sink;
    Agreement m_agreement;
    double m_bytesOfModel = 0; ///< its weights, as far as they matter to a cache
    std::chrono::steady_clock::time_point m_start;
    MemoryMeter& m_meter = lastingMeter();
    MeterScope m_metered{m_meter};
    double m_room = 0; ///< bytes of one rank
    std::int64_t m_done = 0;
    std::int64_t m_total = 0;
    double m_longest = 0;                                                     ///< seconds of a point so far
    std::set<std::tuple<std::size_t, ComputeMode, std::int64_t, int>> m_full; ///< did not fit at a smaller batch
};

} // namespace

Window windowOf(const std::vector<double>& seconds)
{
    const auto middle = middleOf(seconds);
    const auto outliers =
        std::count_if(seconds.begin(), seconds.end(), [&](double each) { return std::abs(each - middle.median) > 3 * middle.spread; });
    return {middle.median, middle.spread, static_cast<int>(outliers)};
}

void measureProfile(Communicator& world, ComputeDevice& device, const ProfileRequest& request, const std::vector<ProfilePoint>& points,
                    const ProfileSink& sink)
{
    ProfileRun(world, device, request, points, sink).run();
}

} // namespace loadline
