// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/knapsack_completion.hpp"

namespace loadline::knapsack {

void Completion::reset(double price, double mostCost)
{
    m_fill.assign(1, {});
    m_free.assign(1, {});
    m_price = price;
    m_mostCost = mostCost;
}

bool Completion::add(std::vector<Knot>& knots, double ratio, double bytes)
{
    const Knot& last = knots.back();
    const Knot next{last.bytes + bytes, last.cost + ratio * bytes, ratio};
    knots.push_back(next);
    return next.cost <= m_mostCost;
}

} // namespace loadline::knapsack
