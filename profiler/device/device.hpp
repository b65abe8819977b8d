// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/exchange/worker.hpp"
#include "profiler/device/communicator.hpp"

#include <c10/core/Device.h>

#include <memory>
#include <string_view>
#include <vector>

namespace loadline {

/// A point in a device's queue of work.
class Event {
public:
    virtual ~Event() = default;
    /// Takes the place behind everything that this thread has queued so far.
    virtual void record() = 0;
    /// Seconds from `earlier` to this one; waits until both have been reached. Both were recorded, on the same device.
    [[nodiscard]] virtual Seconds since(const Event& earlier) const = 0;
};

/// What the device and libtorch's allocator say. Zero where a device does not know.
struct DeviceMemory {
    Bytes total;
    Bytes free;          ///< for everybody on this machine
    Bytes allocated;     ///< by this process's tensors, each rounded as the allocator does
    Bytes allocatedPeak; ///< since resetPeaks
    Bytes reserved;      ///< taken from the device, in use or cached
    Bytes reservedPeak;  ///< since resetPeaks
};

/// What tensors live on and kernels run on: this machine's CPU, or one GPU. Used by one thread at a time.
class ComputeDevice {
public:
    virtual ~ComputeDevice() = default;

    [[nodiscard]] virtual c10::Device place() const = 0; ///< for tensor options
    /// True where several ranks of one machine share this device's memory and cores.
    [[nodiscard]] virtual bool shared() const = 0;
    /// Waits for everything that this thread has queued. Throws std::exception if one of it failed.
    virtual void synchronize() = 0;
    /// A process group of this kind of device: Gloo or NCCL. As joinGloo.
    virtual CommunicatorPtr join(const Rendezvous& rendezvous) = 0;
    /// Lets MemoryMeter see this device's tensors. Before the first of them; again is harmless.
    virtual void meter() = 0;
    [[nodiscard]] virtual DeviceMemory memory() const = 0;
    virtual void resetPeaks() = 0;
    virtual std::unique_ptr<Event> event() = 0;
};
using ComputeDevicePtr = std::unique_ptr<ComputeDevice>;

/// `kind` is "cpu" or "cuda"; `index` the GPU, which is this thread's current one from then on. Call it before anything else of libtorch:
/// the CUDA half is opened here, and libtorch looks for it only once. Errors: another word, no such device (NotFound), each with what was
/// looked for.
Result<ComputeDevicePtr> openDevice(std::string_view kind, int index);

/// The CPU, and each GPU that can be used. Never fails: what cannot be found out is left empty. `whyNoGpu` says why there is
/// none, or is left alone.
std::vector<WorkerDevice> describeDevices(std::string* whyNoGpu = nullptr);

} // namespace loadline
