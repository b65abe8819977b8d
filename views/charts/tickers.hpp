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

/// Ticks of a logarithmic axis of bytes: 1 KiB, 32 KiB, 1 MiB, ...
class LogBytesTicker : public QCPAxisTickerLog {
public:
    LogBytesTicker();

protected:
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;
};

/// Ticks of a logarithmic axis of seconds: 10 us, 100 us, 1 ms, ...
class LogSecondsTicker : public QCPAxisTickerLog {
protected:
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;
};

/// Ticks of an axis of shares, labelled in per cent.
class ShareTicker : public QCPAxisTicker {
protected:
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;
};

/// Ticks of an axis that counts bytes of any size: round numbers in the unit that fits its top. The title names the unit.
class SizeTicker : public QCPAxisTicker {
public:
    struct Unit {
        const char* name;
        double bytes;
    };
    static Unit unitOf(double top); ///< "KiB", "MiB" or "GiB"

protected:
    double getTickStep(const QCPRange& range) override;
    QVector<double> createTickVector(double tickStep, const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;

private:
    double m_unit = 1;
};

} // namespace loadline
