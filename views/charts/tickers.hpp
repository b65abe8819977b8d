// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/plot.hpp"

namespace loadline {

/// Ticks of an axis that counts bytes, labelled in GiB without unit (the title has it).
class GibTicker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;
};

/// Ticks of an axis that counts seconds, labelled in milliseconds.
class MillisecondTicker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;
};

} // namespace loadline
