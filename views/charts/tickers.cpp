// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/tickers.hpp"

namespace loadline {
namespace {

constexpr double kGib = 1LL << 30;

QString plain(double value)
{
    // Six significant digits drop what a step of 0.1 leaves behind, and an exponent never shows below a million.
    return QLocale::c().toString(value, 'g', 6);
}

} // namespace

double GibTicker::getTickStep(const QCPRange& range)
{
    return QCPAxisTicker::getTickStep(QCPRange(range.lower / kGib, range.upper / kGib)) * kGib;
}

QString GibTicker::getTickLabel(double tick, const QLocale&, QChar, int)
{
    return plain(tick / kGib);
}

double MillisecondTicker::getTickStep(const QCPRange& range)
{
    return QCPAxisTicker::getTickStep(QCPRange(range.lower * 1e3, range.upper * 1e3)) / 1e3;
}

QString MillisecondTicker::getTickLabel(double tick, const QLocale&, QChar, int)
{
    return plain(tick * 1e3);
}

} // namespace loadline
