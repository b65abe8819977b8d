// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/run_log.hpp"

#include "core/base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

constexpr std::int64_t kMostRanks = 10'000'000;
constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr std::int64_t kMostBytes = 1LL << 60;
constexpr std::int64_t kMostTokens = 1LL << 40;
constexpr double kMostSeconds = 1e9;

/// One line's values; the first that is missing or out of range is remembered.
class Line {
public:
    Line(const Json& json, std::string where) : m_json(json), m_where(std::move(where)) {}

    std::int64_t whole(const char* key, std::int64_t least, std::int64_t most)
    {
        const auto found = m_json.find(key);
        if (found == m_json.end() || !found->is_number_integer() ||
            (found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(most)) ||
            found->get<std::int64_t>() < least || found->get<std::int64_t>() > most) {
            fail(key, fmt::format("a whole number from {} to {}", least, most));
            return least;
        }
        return found->get<std::int64_t>();
    }
    std::optional<Bytes> bytes(const char* key)
    {
        const auto found = m_json.find(key);
        if (found == m_json.end() || found->is_null())
            return {};
        return Bytes(whole(key, 0, kMostBytes));
    }
    double real(const char* key, double least, double most)
    {
        const auto found = m_json.find(key);
        if (found != m_json.end() && found->is_number())
            if (const double value = found->get<double>(); std::isfinite(value) && value >= least && value <= most)
                return value;
        fail(key, fmt::format("a number from {} to {}", least, most));
        return 0;
    }
    std::string text(const char* key) const
    {
        const auto found = m_json.find(key);
        return found != m_json.end() && found->is_string() ? found->get<std::string>() : std::string();
    }
    bool yes(const char* key) const
    {
        const auto found = m_json.find(key);
        return found != m_json.end() && found->is_boolean() && found->get<bool>();
    }
    [[nodiscard]] const std::optional<Error>& problem() const { return m_problem; }

private:
    void fail(const char* key, const std::string& expected)
    {
        if (!m_problem)
            m_problem = invalidInput(fmt::format("{}: '{}' is not {}; give the file as train.py wrote it", m_where, key, expected));
    }
    const Json& m_json;
    std::string m_where;
    std::optional<Error> m_problem;
};

void readHead(const Json& json, Line& line, RunLog& log)
{
    log.model = line.text("model");
    log.ranks = line.whole("ranks", 1, kMostRanks);
    log.batch = line.whole("batch", 1, kMostTokens);
    log.accumulation = line.whole("accumulation", 1, kMostTokens);
    log.sequence = line.whole("sequence", 1, kMostTokens);
    log.reference = line.yes("reference");
    if (const auto devices = json.find("devices"); devices != json.end() && devices->is_array())
        for (const Json& device : *devices)
            log.devices.push_back(device.is_string() ? device.get<std::string>() : std::string());
    if (const auto versions = json.find("versions"); versions != json.end() && versions->is_object())
        for (const auto& [name, version] : versions->items())
            if (version.is_string())
                log.versions[name] = version.get<std::string>();
}

void readRow(Line& line, RunLog& log)
{
    RunRow row;
    row.step = line.whole("step", 1, kMostSteps);
    row.rank = line.whole("rank", 0, std::max<std::int64_t>(log.ranks, 1) - 1);
    row.loss = line.real("loss", -1e30, 1e30);
    row.seconds = Seconds(line.real("seconds", 0, kMostSeconds));
    row.peakAllocated = line.bytes("peak_allocated_bytes");
    row.peakReserved = line.bytes("peak_reserved_bytes");
    row.allGather = line.bytes("all_gather_bytes").value_or(Bytes());
    row.reduceScatter = line.bytes("reduce_scatter_bytes").value_or(Bytes());
    row.allReduce = line.bytes("all_reduce_bytes").value_or(Bytes());
    if (!line.problem())
        log.rows.push_back(row);
}

} // namespace

Result<RunLog> readRunLog(std::string_view text, std::string_view origin)
{
    RunLog log;
    std::int64_t number = 0;
    std::int64_t skipped = 0;
    std::int64_t firstSkipped = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const auto words = text.substr(at, end - at);
        at = end + 1;
        ++number;
        if (words.find_first_not_of(" \t\r") == std::string_view::npos)
            continue;
        const auto json = parseJson(words, origin);
        if (!json || !json->is_object()) {
            firstSkipped = skipped++ == 0 ? number : firstSkipped;
            continue;
        }
        Line line(*json, fmt::format("{}, line {}", origin, number));
        if (json->contains("loadline-run")) {
            if (line.whole("loadline-run", 1, 1'000'000) > 1)
                return unsupported(fmt::format("{}, line {}: written by a newer bundle; update Loadline", origin, number));
            if (log.ranks > 0)
                return invalidInput(fmt::format("{}, line {}: a second run begins; give one file for each run", origin, number));
            readHead(*json, line, log);
        } else if (log.ranks == 0) {
            ++skipped;
            firstSkipped = firstSkipped == 0 ? number : firstSkipped;
        } else if (json->contains("step")) {
            readRow(line, log);
        } else if (json->contains("done")) {
            log.finished = true;
        }
        if (line.problem())
            return *line.problem();
    }
    if (log.ranks == 0)
        return invalidInput(fmt::format(
            "{}: no line begins a run (\"loadline-run\": 1); give what train.py of an exported bundle wrote with --output", origin));
    if (skipped > 0)
        log.notes.push_back(fmt::format("{} lines are not of the run and are left out, the first is line {}.", skipped, firstSkipped));
    if (!log.finished)
        log.notes.push_back("The run did not come to its end; the steps that it finished are here.");
    return log;
}

} // namespace loadline
