// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/format/text.hpp"

#include "core/base/text.hpp"

#include <QCoreApplication>
#include <QLocale>

#include <cmath>

namespace loadline {
namespace {

constexpr QChar kMinus(0x2212);
constexpr char16_t kThinSpace = 0x2009;

QString translated(const char* source)
{
    return QCoreApplication::translate("loadline::Text", source);
}

QString withSign(double value, const QString& magnitude)
{
    if (value < 0)
        return kMinus + magnitude;
    return value > 0 ? QLatin1Char('+') + magnitude : magnitude;
}

} // namespace

QString text(const std::string& utf8)
{
    return QString::fromStdString(utf8);
}

QString bytesText(Bytes bytes)
{
    return text(formatBytes(bytes));
}

QString gibText(Bytes bytes, int digits)
{
    return QLocale::c().toString(bytes.gib(), 'f', digits);
}

QString secondsText(Seconds seconds)
{
    return text(formatSeconds(seconds));
}

QString signedSecondsText(Seconds seconds)
{
    return withSign(seconds.value(), secondsText(Seconds(std::abs(seconds.value()))));
}

QString exactText(double value)
{
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

QString rateText(double perSecond)
{
    return text(formatCount(perSecond));
}

QString percentText(double share)
{
    const double percent = share * 100;
    return QLocale::c().toString(percent, 'f', percent != 0 && std::abs(percent) < 10 ? 1 : 0) + QChar(0xA0) + QLatin1Char('%');
}

QString signedPercentText(double share)
{
    return withSign(share, percentText(std::abs(share)));
}

QString wholeText(std::int64_t value)
{
    QString digits = QString::number(std::abs(value));
    for (qsizetype at = digits.size() - 3; at > 0; at -= 3)
        digits.insert(at, QChar(kThinSpace));
    return value < 0 ? kMinus + digits : digits;
}

QString categoryText(MemoryCategory category)
{
    switch (category) {
    case MemoryCategory::Parameters:
        return translated(QT_TRANSLATE_NOOP("loadline::Text", "parameters"));
    case MemoryCategory::Gradients:
        return translated(QT_TRANSLATE_NOOP("loadline::Text", "gradients"));
    case MemoryCategory::Optimizer:
        return translated(QT_TRANSLATE_NOOP("loadline::Text", "optimizer"));
    case MemoryCategory::Activations:
        return translated(QT_TRANSLATE_NOOP("loadline::Text", "activations"));
    case MemoryCategory::Gathered:
        return translated(QT_TRANSLATE_NOOP("loadline::Text", "gathered"));
    case MemoryCategory::Overhead:
        break;
    }
    return translated(QT_TRANSLATE_NOOP("loadline::Text", "overhead"));
}

QString phaseText(Phase phase)
{
    switch (phase) {
    case Phase::Forward:
        return translated(QT_TRANSLATE_NOOP("loadline::Text", "forward"));
    case Phase::Recompute:
        return translated(QT_TRANSLATE_NOOP("loadline::Text", "recompute"));
    case Phase::Backward:
        return translated(QT_TRANSLATE_NOOP("loadline::Text", "backward"));
    case Phase::Step:
        break;
    }
    return translated(QT_TRANSLATE_NOOP("loadline::Text", "step"));
}

QString strategyText(const Strategy& strategy, std::int64_t ranks)
{
    QString words;
    if (strategy.replicated()) {
        words = translated(QT_TRANSLATE_NOOP("loadline::Text", "replicated"));
    } else if (strategy.shardedSlices < strategy.slices) {
        words = translated(QT_TRANSLATE_NOOP("loadline::Text", "%1 of %2 sharded")).arg(strategy.shardedSlices).arg(strategy.slices);
    } else {
        words = translated(QT_TRANSLATE_NOOP("loadline::Text", "sharded"));
    }
    if (!strategy.replicated() && strategy.group != ranks)
        words += translated(QT_TRANSLATE_NOOP("loadline::Text", " by %1")).arg(strategy.group);
    if (!strategy.replicated() && strategy.shardedSlices == strategy.slices && strategy.slices > 1)
        words += translated(QT_TRANSLATE_NOOP("loadline::Text", ", %1 slices")).arg(strategy.slices);
    if (strategy.recompute)
        words += translated(QT_TRANSLATE_NOOP("loadline::Text", ", recomputed"));
    if (!strategy.replicated() && !strategy.reshardAfterForward)
        words += translated(QT_TRANSLATE_NOOP("loadline::Text", ", kept"));
    return words;
}

Result<Bytes> readBudget(const QString& typed, Bytes device)
{
    const QString trimmed = typed.trimmed();
    bool plainNumber = false;
    QLocale::c().toDouble(trimmed, &plainNumber);
    return parseBudget((plainNumber ? trimmed + QStringLiteral("GiB") : trimmed).toStdString(), device);
}

Bytes fractionOfGib(std::int64_t parts, std::int64_t perGib)
{
    const std::int64_t whole = parts / perGib;
    const std::int64_t rest = parts % perGib;
    return Bytes((whole << 30) + ((rest << 30) / perGib));
}

} // namespace loadline
