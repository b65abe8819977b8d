// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/fuzzy.hpp"

namespace loadline {
namespace {

constexpr int kBegin = 8;   ///< a letter that begins a word
constexpr int kFollow = 5;  ///< a letter that follows the one before
constexpr int kLetter = 1;  ///< any other
constexpr int kPerChar = 1; ///< what eight more characters of the text cost

} // namespace

std::optional<int> fuzzyScore(const QString& typed, const QString& words)
{
    int score = 0;
    qsizetype at = 0;
    qsizetype last = -2;
    for (const QChar letter : typed) {
        if (letter.isSpace())
            continue;
        // A letter that begins a word is preferred to an earlier one inside of one.
        qsizetype found = -1;
        for (qsizetype i = at; i < words.size(); ++i) {
            if (words[i].toCaseFolded() != letter.toCaseFolded())
                continue;
            const bool begins = i == 0 || !words[i - 1].isLetterOrNumber();
            if (begins || i == last + 1) {
                found = i;
                break;
            }
            if (found < 0)
                found = i;
        }
        if (found < 0)
            return std::nullopt;
        const bool begins = found == 0 || !words[found - 1].isLetterOrNumber();
        score += found == last + 1 ? kFollow : begins ? kBegin : kLetter;
        last = found;
        at = found + 1;
    }
    return score - static_cast<int>(words.size()) / 8 * kPerChar;
}

} // namespace loadline
