// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"
#include "core/cost/profile.hpp"

#include <vector>

namespace loadline {

/// Sizes between which one law holds: seconds = latency + bytes * secondsPerByte. Collective libraries change protocol and
/// algorithm with the size, so a curve has kinks (docs/device.md).
struct LinkRegime {
    Bytes from; ///< least and largest measured size in it
    Bytes to;
    Seconds latency;
    double secondsPerByte = 0; ///< 0: no dependence on the size was seen
};

/// One to three regimes through a measured curve, with what they miss.
struct LinkFit {
    std::vector<LinkRegime> regimes;
    std::vector<double> residuals; ///< measured / fitted - 1, one a point
    double worst = 0;              ///< largest |residual|
    double rms = 0;                ///< root of the mean square

    /// Never falls as bytes grow: a regime starts no lower than the one before ends. Between two regimes a straight line. Beyond the
    /// ends the first and the last regime's law.
    [[nodiscard]] Seconds at(Bytes bytes) const;
};

/// Fits regimes to `points` (rising in bytes, seconds above 0; not empty) on relative error, so that small sizes count as much as large
/// ones. Exact over all ways of cutting the sizes into up to three regimes of at least three points; how many is decided by the
/// Bayesian information criterion. O(points^3).
LinkFit fitLink(const std::vector<LinkPoint>& points);

/// As nccl-tests define them, in B/s, from the bytes of the whole array: algorithm bandwidth S/t, and bus bandwidth, which makes
/// group sizes comparable: S/t times 2(n-1)/n for an all-reduce, (n-1)/n for a gather or scatter.
double algorithmBandwidth(Bytes bytes, Seconds seconds);
double busBandwidth(Collective collective, std::int64_t group, Bytes bytes, Seconds seconds);

} // namespace loadline
