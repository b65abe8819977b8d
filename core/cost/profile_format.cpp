// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.hpp"
#include "core/cluster/fields.hpp"
#include "core/cost/profile.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace loadline {
namespace {

constexpr std::int64_t kMostCount = 1'000'000'000; ///< batch, sequence, ranks
constexpr double kMostSeconds = 1e6;
constexpr double kMostSlowDown = 100; ///< as a cluster's overlap_compute
constexpr std::int64_t kMostWindows = 1'000'000;
constexpr std::size_t kMostRows = 1'000'000;
constexpr std::size_t kMostVersions = 64;
constexpr std::array kModes{ComputeMode::Fp32, ComputeMode::Bf16, ComputeMode::Fp16, ComputeMode::AutocastBf16};
constexpr std::array kCollectives{Collective::AllGather, Collective::ReduceScatter, Collective::AllReduce};
constexpr std::array kKernels{AttentionKind::Flash, AttentionKind::Efficient, AttentionKind::Math, AttentionKind::Eager};

/// The member of `all` that `nameOf` names as the text under `key`; a fault that lists the names otherwise.
template <class Value, std::size_t size, class NameOf>
Value pick(Fields& fields, std::string_view key, const std::array<Value, size>& all, NameOf nameOf)
{
    const auto text = fields.text(key);
    const auto at = std::find_if(all.begin(), all.end(), [&](Value value) { return nameOf(value) == text; });
    if (at != all.end())
        return *at;
    std::string names;
    for (const auto value : all)
        names += (names.empty() ? "" : ", ") + std::string(nameOf(value));
    fields.fail(key, fmt::format("is none of {}; write one of them", names));
    return all.front();
}

Result<ProfileHeader> readHeader(const Json& line, const std::string& origin)
{
    Fields fields(line, origin);
    ProfileHeader header;
    fields.text("format");
    header.device = fields.text("device");
    header.driver = fields.text("driver", "");
    header.date = fields.text("date");
    header.ranks = fields.whole("ranks", 1, kMostCount, 1);
    if (fields.has("versions")) {
        auto versions = fields.object("versions");
        fields.adopt(versions);
        const auto& object = line.at("versions");
        if (object.size() > kMostVersions)
            fields.fail("versions", fmt::format("has more than {} entries; remove some", kMostVersions));
        for (const auto& [name, value] : object.items()) {
            if (!fields.fault())
                header.versions.emplace_back(name, versions.text(name));
        }
        fields.adopt(versions);
    }
    fields.refuseUnknown();
    if (fields.fault())
        return *fields.fault();
    return header;
}

OperatorRow readOperator(Fields& fields)
{
    OperatorRow row;
    row.key = fields.text("operator");
    row.precision = pick(fields, "precision", kModes, computeModeName);
    if (fields.has("attention"))
        row.attention = attentionName(pick(fields, "attention", kKernels, attentionName));
    row.batch = fields.whole("batch", 1, kMostCount);
    row.sequence = fields.whole("sequence", 1, kMostCount);
    row.slices = static_cast<int>(fields.whole("slices", 1, 65536, 1));
    row.outOfMemory = fields.flag("out_of_memory", false);
    if (row.outOfMemory)
        return row;
    row.forward = Seconds(fields.number("forward_seconds", 0, kMostSeconds));
    row.backward = Seconds(fields.number("backward_seconds", 0, kMostSeconds));
    row.forwardSpread = Seconds(fields.number("forward_spread_seconds", 0, kMostSeconds, 0.0));
    row.backwardSpread = Seconds(fields.number("backward_spread_seconds", 0, kMostSeconds, 0.0));
    if (fields.has("saved"))
        row.saved = fields.bytes("saved", Bytes(0), Bytes(kMostBytes));
    if (fields.has("workspace"))
        row.workspace = fields.bytes("workspace", Bytes(0), Bytes(kMostBytes));
    if (fields.has("recompute_seconds"))
        row.recompute = Seconds(fields.number("recompute_seconds", 0, kMostSeconds));
    row.accumulate = Seconds(fields.number("accumulate_seconds", 0, kMostSeconds, 0.0));
    row.windows = static_cast<int>(fields.whole("windows", 0, kMostWindows, 0));
    row.outliers = static_cast<int>(fields.whole("outliers", 0, kMostWindows, 0));
    return row;
}

LinkRow readLink(Fields& fields)
{
    LinkRow row;
    row.collective = pick(fields, "collective", kCollectives, collectiveName);
    row.group = fields.whole("group", 2, kMostCount);
    row.perNode = fields.whole("per_node", 1, kMostCount);
    row.bytes = fields.bytes("bytes", Bytes(1), Bytes(kMostBytes));
    // A collective takes time; 0 would make its bandwidth infinite.
    row.seconds = Seconds(fields.number("seconds", 1e-9, kMostSeconds));
    row.spread = Seconds(fields.number("spread_seconds", 0, kMostSeconds, 0.0));
    if (row.perNode > row.group)
        fields.fail("per_node", "is larger than 'group'; lower it");
    return row;
}

OverlapRow readOverlap(Fields& fields)
{
    OverlapRow row;
    row.collective = pick(fields, "collective", kCollectives, collectiveName);
    row.group = fields.whole("group", 2, kMostCount);
    row.perNode = fields.whole("per_node", 1, kMostCount);
    row.bytes = fields.bytes("bytes", Bytes(1), Bytes(kMostBytes));
    row.compute = fields.number("compute", 1, kMostSlowDown);
    row.transfer = fields.number("transfer", 1, kMostSlowDown);
    if (row.perNode > row.group)
        fields.fail("per_node", "is larger than 'group'; lower it");
    return row;
}

StepRow readStep(Fields& fields)
{
    StepRow row;
    row.optimizer = fields.text("optimizer");
    row.parameters = fields.whole("parameters", 1, std::numeric_limits<std::int64_t>::max());
    row.seconds = Seconds(fields.number("seconds", 0, kMostSeconds));
    row.spread = Seconds(fields.number("spread_seconds", 0, kMostSeconds, 0.0));
    return row;
}

/// What a file has given so far.
struct Reading {
    std::optional<ProfileHeader> header;
    std::vector<OperatorRow> operators;
    std::vector<LinkRow> links;
    std::vector<OverlapRow> overlaps;
    std::vector<StepRow> steps;

    [[nodiscard]] std::size_t rows() const { return operators.size() + links.size() + overlaps.size() + steps.size(); }
};

std::optional<Error> readLine(std::string_view line, const std::string& origin, Reading& reading)
{
    const auto document = parseJson(line, origin);
    if (!document.ok()) {
        auto error = document.error();
        const auto within = origin + ", line 1:"; // the parser counts lines of what it was given: of this one line
        if (error.message.starts_with(within))
            error.message.replace(0, within.size(), origin + ":");
        return error;
    }
    if (!reading.header) {
        if (auto error = checkFormat(document.value(), origin, "profile", 1))
            return error;
        auto header = readHeader(document.value(), origin);
        if (!header.ok())
            return header.error();
        reading.header = std::move(header).value();
        return std::nullopt;
    }
    Fields fields(document.value(), origin);
    const auto kind = fields.text("row");
    if (kind == "operator")
        reading.operators.push_back(readOperator(fields));
    else if (kind == "link")
        reading.links.push_back(readLink(fields));
    else if (kind == "overlap")
        reading.overlaps.push_back(readOverlap(fields));
    else if (kind == "step")
        reading.steps.push_back(readStep(fields));
    else
        fields.fail("row", "is none of \"operator\", \"link\", \"overlap\", \"step\"; write one of them");
    fields.refuseUnknown();
    return fields.fault();
}

Json headerJson(const ProfileHeader& header)
{
    Json line = {{"format", "loadline.profile/1"}, {"device", header.device}};
    if (!header.driver.empty())
        line["driver"] = header.driver;
    line["date"] = header.date;
    line["ranks"] = header.ranks;
    if (!header.versions.empty())
        line["versions"] = Json::object();
    for (const auto& [name, version] : header.versions)
        line["versions"][name] = version;
    return line;
}

Json operatorJson(const OperatorRow& row)
{
    Json line = {{"row", "operator"}, {"operator", row.key}, {"precision", computeModeName(row.precision)}};
    if (!row.attention.empty())
        line["attention"] = row.attention;
    line["batch"] = row.batch;
    line["sequence"] = row.sequence;
    line["slices"] = row.slices;
    if (row.outOfMemory) {
        line["out_of_memory"] = true;
        return line;
    }
    line["forward_seconds"] = row.forward.value();
    line["backward_seconds"] = row.backward.value();
    line["forward_spread_seconds"] = row.forwardSpread.value();
    line["backward_spread_seconds"] = row.backwardSpread.value();
    line["saved"] = row.saved.count();
    line["workspace"] = row.workspace.count();
    if (row.recompute)
        line["recompute_seconds"] = row.recompute->value();
    if (row.accumulate > Seconds(0))
        line["accumulate_seconds"] = row.accumulate.value();
    if (row.windows > 0)
        line["windows"] = row.windows;
    if (row.outliers > 0)
        line["outliers"] = row.outliers;
    return line;
}

Json linkJson(const LinkRow& row)
{
    Json line = {{"row", "link"},
                 {"collective", collectiveName(row.collective)},
                 {"group", row.group},
                 {"per_node", row.perNode},
                 {"bytes", row.bytes.count()},
                 {"seconds", row.seconds.value()}};
    if (row.spread > Seconds(0))
        line["spread_seconds"] = row.spread.value();
    return line;
}

Json overlapJson(const OverlapRow& row)
{
    return {{"row", "overlap"},           {"collective", collectiveName(row.collective)},
            {"group", row.group},         {"per_node", row.perNode},
            {"bytes", row.bytes.count()}, {"compute", row.compute},
            {"transfer", row.transfer}};
}

Json stepJson(const StepRow& row)
{
    Json line = {{"row", "step"}, {"optimizer", row.optimizer}, {"parameters", row.parameters}, {"seconds", row.seconds.value()}};
    if (row.spread > Seconds(0))
        line["spread_seconds"] = row.spread.value();
    return line;
}

std::string dumped(const Json& line)
{
    return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

Result<Profile> readProfile(std::string_view text, std::string_view origin)
{
    Reading reading;
    std::size_t number = 0;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string_view::npos)
            continue;
        if (reading.rows() >= kMostRows)
            return invalidInput(fmt::format("{} has more than {} rows; split the profile", origin, kMostRows));
        if (auto error = readLine(line, fmt::format("{}, line {}", origin, number), reading))
            return *std::move(error);
    }
    if (!reading.header)
        return invalidInput(fmt::format("{} is empty; a profile begins with a line that says \"loadline.profile/1\"", origin));
    return Profile(*std::move(reading.header), std::move(reading.operators), std::move(reading.links), std::move(reading.overlaps),
                   std::move(reading.steps));
}

Result<Profile> loadProfile(const std::string& path)
{
    auto text = readFile(path);
    if (!text.ok())
        return text.error();
    return readProfile(text.value(), path);
}

std::string profileLine(const ProfileHeader& header)
{
    return dumped(headerJson(header));
}

std::string profileLine(const OperatorRow& row)
{
    return dumped(operatorJson(row));
}

std::string profileLine(const LinkRow& row)
{
    return dumped(linkJson(row));
}

std::string profileLine(const OverlapRow& row)
{
    return dumped(overlapJson(row));
}

std::string profileLine(const StepRow& row)
{
    return dumped(stepJson(row));
}

std::string writeProfile(const Profile& profile)
{
    std::string text = profileLine(profile.header());
    for (const auto& row : profile.operators())
        text += profileLine(row);
    for (const auto& row : profile.links())
        text += profileLine(row);
    for (const auto& row : profile.overlaps())
        text += profileLine(row);
    for (const auto& row : profile.steps())
        text += profileLine(row);
    return text;
}

} // namespace loadline
