// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"
#include "core/exchange/worker.hpp"

#include <string>
#include <string_view>

namespace loadline {

/// What this machine's CPU side offers to this process, limits of its control group included. Zero or empty where the system does
/// not say.
struct Machine {
    std::string name;   ///< "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz"
    int threads = 1;    ///< that this process may run on
    Bytes memory;       ///< that a process can have
    Bytes free;         ///< without pushing others out
    double clockHz = 0; ///< the highest of a core, else the current one
    std::string system; ///< "Linux 6.1.0"
};
Machine readMachine();

/// The parts of it that are read from text, for tests. Anything unreadable gives the empty value.
std::string cpuNameIn(std::string_view cpuinfo);
double cpuClockIn(std::string_view cpuinfo);
Bytes memoryIn(std::string_view meminfo, std::string_view key); ///< "MemTotal", "MemAvailable"; kB in the file

/// The same as a device of the protocol; `versions` also tells the clock.
WorkerDevice describeCpu();
/// "2.70 GHz"; empty for 0.
std::string clockText(double hertz);

} // namespace loadline
