// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/link_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace loadline {
namespace {

constexpr std::size_t kMostRegimes = 3;
constexpr std::size_t kLeastPoints = 3; ///< of a regime: two would fit any noise
constexpr double kFloor = 1e-6;         ///< relative errors below a thousandth are no reason for another regime
constexpr double kParameters = 3;       ///< of one regime: latency, slope, where it begins

/// A law through some points, and the sum of its squared relative errors.
struct Law {
    double latency = 0;
    double slope = 0;
    double error = std::numeric_limits<double>::infinity();
};

/// Sums over points for relative least squares: x = 1/t and z = S/t turn (a + b S - t) / t into a x + b z - 1.
struct Sums {
    double n = 0, x = 0, z = 0, xx = 0, xz = 0, zz = 0;

    void add(const LinkPoint& point)
    {
        const double inverse = 1 / point.seconds.value();
        const double scaled = static_cast<double>(point.bytes.count()) * inverse;
        n += 1;
        x += inverse;
        z += scaled;
        xx += inverse * inverse;
        xz += inverse * scaled;
        zz += scaled * scaled;
    }

    [[nodiscard]] Law of(double latency, double slope) const
    {
        const double error = latency * latency * xx + slope * slope * zz + n + 2 * (latency * slope * xz - latency * x - slope * z);
        return {latency, slope, std::max(0.0, error)};
    }

    /// Least squares with neither a negative latency nor a negative slope: the free optimum if it has neither, else the better
    /// of the two edges.
    [[nodiscard]] Law best() const
    {
        const double determinant = xx * zz - xz * xz;
        if (determinant > 1e-12 * xx * zz) {
            const double latency = (x * zz - z * xz) / determinant;
            const double slope = (z * xx - x * xz) / determinant;
            if (latency >= 0 && slope >= 0)
                return of(latency, slope);
        }
        const Law flat = of(x / xx, 0);
        const Law proportional = of(0, z / zz);
        return flat.error < proportional.error ? flat : proportional;
    }
};

/// The best law through points [first, last).
class Laws {
public:
    explicit Laws(const std::vector<LinkPoint>& points) : m_size(points.size()), m_laws(m_size * (m_size + 1))
    {
        for (std::size_t first = 0; first < m_size; ++first) {
            Sums sums;
            for (std::size_t last = first; last < m_size; ++last) {
                sums.add(points[last]);
                m_laws[first * (m_size + 1) + last + 1] = sums.best();
            }
        }
    }

    [[nodiscard]] const Law& of(std::size_t first, std::size_t last) const { return m_laws[first * (m_size + 1) + last]; }

private:
    std::size_t m_size;
    std::vector<Law> m_laws;
};

/// The best way to cut all points into `regimes`: where each begins; empty if there are too few points.
std::vector<std::size_t> bestCut(const Laws& laws, std::size_t points, std::size_t regimes, double& error)
{
    constexpr double kNever = std::numeric_limits<double>::infinity();
    // least[k][end]: least error of points [0, end) in k + 1 regimes; from[k][end]: where the last of them begins.
    std::vector<std::vector<double>> least(regimes, std::vector<double>(points + 1, kNever));
    std::vector<std::vector<std::size_t>> from(regimes, std::vector<std::size_t>(points + 1, 0));
    for (std::size_t end = kLeastPoints; end <= points; ++end)
        least[0][end] = laws.of(0, end).error;
    for (std::size_t k = 1; k < regimes; ++k) {
        for (std::size_t end = (k + 1) * kLeastPoints; end <= points; ++end) {
            for (std::size_t begin = k * kLeastPoints; begin + kLeastPoints <= end; ++begin) {
                const double sum = least[k - 1][begin] + laws.of(begin, end).error;
                if (sum < least[k][end]) {
                    least[k][end] = sum;
                    from[k][end] = begin;
                }
            }
        }
    }
    error = least[regimes - 1][points];
    if (error == kNever)
        return {};
    std::vector<std::size_t> begins(regimes);
    std::size_t end = points;
    for (std::size_t k = regimes; k-- > 0;) {
        begins[k] = from[k][end];
        end = begins[k];
    }
    return begins;
}

std::vector<std::size_t> chosenCut(const Laws& laws, std::size_t points)
{
    std::vector<std::size_t> chosen{0}; // one regime, whatever the number of points
    double least = std::numeric_limits<double>::infinity();
    const auto n = static_cast<double>(points);
    for (std::size_t regimes = 1; regimes <= kMostRegimes; ++regimes) {
        double error = 0;
        auto begins = bestCut(laws, points, regimes, error);
        if (begins.empty())
            break;
        const double criterion = n * std::log(error / n + kFloor) + kParameters * static_cast<double>(regimes) * std::log(n);
        if (criterion < least) {
            least = criterion;
            chosen = std::move(begins);
        }
    }
    return chosen;
}

double lawAt(const LinkRegime& regime, double bytes)
{
    return regime.latency.value() + regime.secondsPerByte * bytes;
}

} // namespace

Seconds LinkFit::at(Bytes bytes) const
{
    const auto wanted = static_cast<double>(bytes.count());
    double reached = 0; // what the regimes before end at
    for (std::size_t i = 0; i < regimes.size(); ++i) {
        const auto& regime = regimes[i];
        const auto end = static_cast<double>(regime.to.count());
        if (wanted <= end || i + 1 == regimes.size())
            return Seconds(std::max(reached, lawAt(regime, wanted)));
        reached = std::max(reached, lawAt(regime, end));
        const auto next = static_cast<double>(regimes[i + 1].from.count());
        if (wanted < next)
            return Seconds(std::lerp(reached, std::max(reached, lawAt(regimes[i + 1], next)), (wanted - end) / (next - end)));
    }
    return Seconds(0);
}

LinkFit fitLink(const std::vector<LinkPoint>& points)
{
    LinkFit fit;
    if (points.empty())
        return fit;
    const Laws laws(points);
    const auto begins = chosenCut(laws, points.size());
    for (std::size_t i = 0; i < begins.size(); ++i) {
        const auto end = i + 1 < begins.size() ? begins[i + 1] : points.size();
        const auto& law = laws.of(begins[i], end);
        fit.regimes.push_back({points[begins[i]].bytes, points[end - 1].bytes, Seconds(law.latency), law.slope});
    }
    double squares = 0;
    for (const auto& point : points) {
        const double residual = point.seconds.value() / std::max(fit.at(point.bytes).value(), 1e-300) - 1;
        fit.residuals.push_back(residual);
        fit.worst = std::max(fit.worst, std::abs(residual));
        squares += residual * residual;
    }
    fit.rms = std::sqrt(squares / static_cast<double>(points.size()));
    return fit;
}

double algorithmBandwidth(Bytes bytes, Seconds seconds)
{
    return seconds.value() > 0 ? static_cast<double>(bytes.count()) / seconds.value() : 0;
}

double busBandwidth(Collective collective, std::int64_t group, Bytes bytes, Seconds seconds)
{
    const auto n = static_cast<double>(std::max<std::int64_t>(1, group));
    const double passes = collective == Collective::AllReduce ? 2 : 1;
    return algorithmBandwidth(bytes, seconds) * passes * (n - 1) / n;
}

} // namespace loadline
