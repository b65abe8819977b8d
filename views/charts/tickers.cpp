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

LogBytesTicker::LogBytesTicker()
{
    constexpr double kStep = 32; // two ticks from one name of a size to the next
    setLogBase(kStep);
    setSubTickCount(0);
}

QString LogBytesTicker::getTickLabel(double tick, const QLocale&, QChar, int)
{
    double value = tick;
    int names = 0;
    constexpr const char* kNames[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    while (value >= 1024 && names < 4) {
        value /= 1024;
        ++names;
    }
    return plain(value) + QChar(QLatin1Char(' ')) + QLatin1String(kNames[names]);
}

QString LogSecondsTicker::getTickLabel(double tick, const QLocale&, QChar, int)
{
    if (tick >= 0.9999)
        return plain(tick) + QStringLiteral(" s");
    return tick >= 0.9999e-3 ? plain(tick * 1e3) + QStringLiteral(" ms") : plain(tick * 1e6) + QStringLiteral(" us");
}

QString ShareTicker::getTickLabel(double tick, const QLocale&, QChar, int)
{
    QString words = plain(tick * 100);
    words.replace(QLatin1Char('-'), QChar(0x2212));
    return words + QStringLiteral(" %");
}

SizeTicker::Unit SizeTicker::unitOf(double top)
{
    constexpr double kKib = 1024;
    if (top >= 2 * kKib * kKib * kKib)
        return {"GiB", kGib};
    return top >= 2 * kKib * kKib ? Unit{"MiB", kKib * kKib} : Unit{"KiB", kKib};
}

double SizeTicker::getTickStep(const QCPRange& range)
{
    return QCPAxisTicker::getTickStep(QCPRange(range.lower / m_unit, range.upper / m_unit)) * m_unit;
}

QVector<double> SizeTicker::createTickVector(double, const QCPRange& range)
{
    m_unit = unitOf(range.upper).bytes; // before any label is asked for
    return QCPAxisTicker::createTickVector(getTickStep(range), range);
}

QString SizeTicker::getTickLabel(double tick, const QLocale&, QChar, int)
{
    return plain(tick / m_unit);
}

} // namespace loadline
