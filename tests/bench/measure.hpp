// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace loadline::bench {

/// CPU time of this thread in milliseconds: neighbours on the machine do not count.
inline double cpuMilliseconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// The value that `share` of the samples stay at or under.
inline double quantile(std::vector<double> samples, double share)
{
    std::sort(samples.begin(), samples.end());
    const auto index = static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1) + 0.5);
    return samples[std::min(index, samples.size() - 1)];
}

/// Forgets the largest resident size so far, so that the next `peakMebibytes` is of what follows. Linux only.
inline void resetPeak()
{
    std::ofstream("/proc/self/clear_refs") << "5";
}

/// The largest resident size of the whole program since `resetPeak`, 0 if the system does not say.
inline double peakMebibytes()
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (double kibibytes = 0; word == "VmHWM:" && status >> kibibytes)
            return kibibytes / 1024;
    return 0;
}

} // namespace loadline::bench
