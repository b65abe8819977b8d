// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/cost/strategy.hpp"
#include "core/cost/timeline.hpp"

#include <QString>

#include <string>

namespace loadline {

// The only place where figures become text in the window. The same digits as loadline-plan prints.

QString text(const std::string& utf8);
QString bytesText(Bytes bytes);               ///< "71.3 GiB"
QString gibText(Bytes bytes, int digits = 1); ///< "71.3", for where the unit stands in the title
QString secondsText(Seconds seconds);         ///< "412 ms"
QString signedSecondsText(Seconds seconds);   ///< "−0.90 ms", "+0.60 ms", with a true minus
QString exactText(double value);              ///< all digits that a double has, for tables that are taken away
QString rateText(double perSecond);           ///< "39.8k"
QString percentText(double share);            ///< 0.075 -> "7.5 %"
QString signedPercentText(double share);      ///< −0.061 -> "−6.1 %"
QString wholeText(std::int64_t value);        ///< thin spaces between thousands

QString categoryText(MemoryCategory category);
QString phaseText(Phase phase);

/// "replicated", "sharded", "sharded by 8", "2 of 4 sharded", "sharded, 4 slices"; with ", recomputed" and ", kept".
QString strategyText(const Strategy& strategy, std::int64_t ranks);

/// As a person types it on the budget's tag: "72" is GiB, also "72000 MiB" and "90%" of the device.
Result<Bytes> readBudget(const QString& typed, Bytes device);

/// Tenths (or hundredths) of a GiB rounded down to whole bytes, exactly as `--budget 72.3GiB` reads them.
Bytes fractionOfGib(std::int64_t parts, std::int64_t perGib);

} // namespace loadline
