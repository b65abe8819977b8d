// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"

#include <QRegularExpression>
#include <QString>

#include <functional>
#include <vector>

namespace loadline {

/// What a filter can ask of one operator.
struct OperatorFacts {
    QString name;
    double slices = 1;
    double shardedSlices = 0;
    double group = 1;
    double bytes = 0;   ///< states and saved activations
    double seconds = 0; ///< compute and communication
    double parameters = 0;
    bool recomputed = false;
    bool pinned = false;
};

/// The filter of the operator tree: terms parted by spaces that all have to hold. "split>1", "sharded>=2", "group=8", "mem>2GiB",
/// "time<3ms", "params>=1M", "is:pinned", "is:recomputed", "/regular expression/", or plain text; "-" before a term turns it round.
class OperatorFilter {
public:
    /// Errors: one sentence on the term that cannot be read.
    static Result<OperatorFilter> read(const QString& words);

    [[nodiscard]] bool accepts(const OperatorFacts& facts) const;
    /// A sum of rows can be asked, by its name alone.
    [[nodiscard]] bool namesOnly() const { return m_namesOnly; }

private:
    std::vector<std::function<bool(const OperatorFacts&)>> m_terms;
    bool m_namesOnly = true;
};

} // namespace loadline
