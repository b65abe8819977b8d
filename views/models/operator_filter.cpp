// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/operator_filter.hpp"

#include "core/base/text.hpp"

#include <QCoreApplication>

#include <array>
#include <optional>
#include <utility>

namespace loadline {
namespace {

using Test = std::function<bool(const OperatorFacts&)>;

enum class Measure { Count, Bytes, Seconds };
struct Key {
    const char* word;
    double OperatorFacts::*member;
    Measure measure;
};
constexpr std::array kKeys{
    Key{"split", &OperatorFacts::slices, Measure::Count},   Key{"sharded", &OperatorFacts::shardedSlices, Measure::Count},
    Key{"group", &OperatorFacts::group, Measure::Count},    Key{"mem", &OperatorFacts::bytes, Measure::Bytes},
    Key{"time", &OperatorFacts::seconds, Measure::Seconds}, Key{"params", &OperatorFacts::parameters, Measure::Count}};

Error wrong(const char* sentence, const QString& term)
{
    return invalidInput(QCoreApplication::translate("loadline::OperatorFilter", sentence).arg(term).toStdString());
}

/// Spaces part terms, but not within "/.../".
QStringList termsOf(const QString& words)
{
    QStringList terms;
    QString term;
    bool inside = false;
    for (const QChar c : words) {
        if (c == QLatin1Char('/') && (inside || term.isEmpty() || term == QLatin1String("-")))
            inside = !inside;
        if (c.isSpace() && !inside) {
            if (!term.isEmpty())
                terms << std::exchange(term, {});
            continue;
        }
        term += c;
    }
    if (!term.isEmpty())
        terms << term;
    return terms;
}

std::optional<double> numberWith(const QString& value, std::initializer_list<std::pair<const char*, double>> units)
{
    static const QRegularExpression kNumber(QStringLiteral("^([0-9]*\\.?[0-9]+)\\s*([a-zA-Z]*)$"));
    const auto match = kNumber.match(value);
    if (!match.hasMatch())
        return std::nullopt;
    for (const auto& [unit, factor] : units) {
        if (match.captured(2).compare(QLatin1String(unit), Qt::CaseInsensitive) == 0)
            return match.captured(1).toDouble() * factor;
    }
    return std::nullopt;
}

std::optional<double> valueOf(Measure measure, const QString& value)
{
    if (measure == Measure::Bytes) {
        const auto bytes = parseBytes(value.toStdString());
        return bytes ? std::optional(static_cast<double>(bytes->count())) : std::nullopt;
    }
    if (measure == Measure::Seconds)
        return numberWith(value, {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}});
    return numberWith(value, {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"B", 1e9}, {"G", 1e9}});
}

/// "mem>2GiB". Empty: it is no comparison.
std::optional<Result<Test>> comparison(const QString& term)
{
    static const QRegularExpression kShape(QStringLiteral("^([a-z]+)(>=|<=|>|<|=)(.*)$"));
    const auto match = kShape.match(term);
    if (!match.hasMatch())
        return std::nullopt;
    for (const Key& key : kKeys) {
        if (match.captured(1) != QLatin1String(key.word))
            continue;
        const auto value = valueOf(key.measure, match.captured(3));
        if (!value)
            return Result<Test>(wrong("'%1' has no value that can be compared; write it like split>1, mem>2GiB or time<3ms", term));
        const QString sign = match.captured(2);
        return Result<Test>(Test([member = key.member, sign, limit = *value](const OperatorFacts& facts) {
            const double has = facts.*member;
            return sign == QLatin1String(">")    ? has > limit
                   : sign == QLatin1String("<")  ? has < limit
                   : sign == QLatin1String(">=") ? has >= limit
                   : sign == QLatin1String("<=") ? has <= limit
                                                 : has == limit;
        }));
    }
    return Result<Test>(wrong("'%1' asks for something unknown; split, sharded, group, mem, time and params can be compared", term));
}

Result<Test> testOf(const QString& term, bool& named)
{
    named = false;
    if (term == QLatin1String("is:pinned"))
        return Test([](const OperatorFacts& facts) { return facts.pinned; });
    if (term == QLatin1String("is:recomputed"))
        return Test([](const OperatorFacts& facts) { return facts.recomputed; });
    named = true;
    if (term.size() >= 2 && term.startsWith(QLatin1Char('/')) && term.endsWith(QLatin1Char('/'))) {
        const QRegularExpression expression(term.mid(1, term.size() - 2), QRegularExpression::CaseInsensitiveOption);
        if (!expression.isValid())
            return wrong("'%1' is no regular expression; mend it, or leave the slashes out to look for plain text", term);
        return Test([expression](const OperatorFacts& facts) { return expression.match(facts.name).hasMatch(); });
    }
    if (auto compared = comparison(term)) {
        named = false;
        return *std::move(compared);
    }
    return Test([term](const OperatorFacts& facts) { return facts.name.contains(term, Qt::CaseInsensitive); });
}

} // namespace

Result<OperatorFilter> OperatorFilter::read(const QString& words)
{
    OperatorFilter filter;
    for (const QString& term : termsOf(words)) {
        const bool turned = term.size() > 1 && term.startsWith(QLatin1Char('-'));
        bool named = false;
        auto test = testOf(turned ? term.mid(1) : term, named);
        if (!test)
            return test.error();
        filter.m_namesOnly = filter.m_namesOnly && named && !turned;
        if (turned)
            filter.m_terms.emplace_back([inner = *test](const OperatorFacts& facts) { return !inner(facts); });
        else
            filter.m_terms.push_back(*std::move(test));
    }
    return filter;
}

bool OperatorFilter::accepts(const OperatorFacts& facts) const
{
    for (const auto& term : m_terms) {
        if (!term(facts))
            return false;
    }
    return true;
}

} // namespace loadline
