// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/device/store.hpp"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace loadline {

c10::intrusive_ptr<c10d::Store> joinStore(const Rendezvous& rendezvous)
{
    c10d::TCPStoreOptions options;
    options.port = static_cast<std::uint16_t>(rendezvous.port);
    options.isServer = rendezvous.rank == 0 && !rendezvous.storeElsewhere;
    options.numWorkers = static_cast<std::size_t>(rendezvous.ranks);
    options.waitWorkers = !rendezvous.storeElsewhere; // torchrun's store has counted its own agents already
    options.timeout = rendezvous.timeout;
    if (options.isServer && rendezvous.listenFd >= 0)
        options.masterListenFd = rendezvous.listenFd;
    const auto store = c10::make_intrusive<c10d::TCPStore>(rendezvous.host, options);
    return c10::make_intrusive<c10d::PrefixStore>("loadline", store);
}

} // namespace loadline
