// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/fields.hpp"
#include "core/cluster/recipe.hpp"
#include "core/exchange/worker.hpp"
#include "core/model/format.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace loadline {
namespace {

constexpr std::int64_t kMostRanks = 4096;
constexpr std::int64_t kMostCount = 1'000'000'000;
constexpr double kMostSeconds = 1e6;
constexpr std::string_view kOrigin = "the request";

std::string deviceAt(Fields& fields)
{
    auto device = fields.text("device", "cpu");
    if (!fields.fault() && device != "cpu" && device != "cuda")
        fields.fail("device", fmt::format("is '{}'; write cpu or cuda", device.substr(0, 60)));
    return device;
}

Seconds limitAt(Fields& fields, std::string_view key, Seconds fallback)
{
    constexpr double kLeastSeconds = 0.1;
    return Seconds(fields.number(key, kLeastSeconds, kMostSeconds, fallback.value()));
}

/// At least one number.
std::vector<std::int64_t> someAt(Fields& fields, std::string_view key, std::int64_t most, std::vector<std::int64_t> fallback)
{
    auto numbers = fields.wholes(key, 1, most, std::move(fallback));
    if (numbers.empty())
        fields.fail(key, "is empty; give a number or leave it out");
    return numbers;
}

std::vector<std::string> precisionsAt(Fields& fields, std::vector<std::string> fallback)
{
    constexpr std::array kModes{ComputeMode::Fp32, ComputeMode::Bf16, ComputeMode::Fp16, ComputeMode::AutocastBf16};
    if (!fields.has("precisions"))
        return fallback;
    std::vector<std::string> read;
    for (const auto& value : fields.list("precisions", 16)) {
        bool known = false;
        for (const auto mode : kModes)
            known = known || value == std::string(computeModeName(mode));
        if (!known) {
            fields.fail("precisions", "has an entry that is none of fp32, bf16, fp16, autocast-bf16; write one of them");
            return read;
        }
        read.push_back(value.get<std::string>());
    }
    if (read.empty())
        fields.fail("precisions", "is empty; give one or leave it out");
    return read;
}

/// Folder or file; nothing if it is not given.
std::string pathAt(Fields& fields, std::string_view key)
{
    return fields.has(key) ? fields.text(key) : std::string();
}

/// Parses a request and checks that it is an object.
Result<Json> parseRequest(std::string_view text)
{
    auto json = parseJson(text, kOrigin);
    if (json && !json->is_object())
        return invalidInput(fmt::format("{} is not a JSON object; put its keys between braces", kOrigin));
    return json;
}

} // namespace

Result<ProfileRequest> readProfileRequest(std::string_view text)
{
    const auto json = parseRequest(text);
    if (!json)
        return json.error();
    Fields fields(*json, std::string(kOrigin));
    ProfileRequest request;
    (void)fields.object("model");
    if (!fields.has("model"))
        return invalidInput(fmt::format("{}: key 'model' is missing; add it", kOrigin));
    auto model = readModelDocument(json->at("model"), "the model of the request");
    if (!model)
        return model.error();
    request.model = *std::move(model);
    request.device = deviceAt(fields);
    request.ranks = static_cast<int>(fields.whole("ranks", 1, kMostRanks, request.ranks));
    request.precisions = precisionsAt(fields, request.precisions);
    request.batches = someAt(fields, "batches", kMostCount, request.batches);
    request.sequences = someAt(fields, "sequences", kMostCount, request.sequences);
    request.granularities.clear();
    for (const auto slices : someAt(fields, "granularities", 65536, {1, 2, 4}))
        request.granularities.push_back(static_cast<int>(slices));
    request.optimizer = fields.text("optimizer", request.optimizer);
    request.limit = limitAt(fields, "seconds", request.limit);
    fields.refuseUnknown();
    if (fields.fault())
        return *fields.fault();
    return request;
}

Result<LinksRequest> readLinksRequest(std::string_view text)
{
    const auto json = parseRequest(text);
    if (!json)
        return json.error();
    Fields fields(*json, std::string(kOrigin));
    LinksRequest request;
    request.device = deviceAt(fields);
    request.ranks = static_cast<int>(fields.whole("ranks", 2, kMostRanks, request.ranks));
    request.groups = fields.wholes("groups", 2, kMostRanks, {});
    request.least = Bytes(fields.whole("least", 1, kMostBytes, request.least.count()));
    request.most = Bytes(fields.whole("most", 1, kMostBytes, request.most.count()));
    request.limit = limitAt(fields, "seconds", request.limit);
    if (!fields.fault() && request.most < request.least)
        fields.fail("most", "is less than 'least'; raise it");
    fields.refuseUnknown();
    if (fields.fault())
        return *fields.fault();
    return request;
}

Result<TrainRequest> readTrainRequest(std::string_view text)
{
    const auto json = parseRequest(text);
    if (!json)
        return json.error();
    Fields fields(*json, std::string(kOrigin));
    TrainRequest request;
    (void)fields.object("plan");
    request.device = deviceAt(fields);
    request.steps = fields.whole("steps", 1, kMostCount, request.steps);
    request.seed = static_cast<std::uint64_t>(
        fields.whole("seed", 0, std::numeric_limits<std::int64_t>::max(), static_cast<std::int64_t>(request.seed)));
    request.data = fields.text("data", request.data);
    request.learningRate = fields.number("learning_rate", 0, 1e3, request.learningRate);
    request.clip = fields.number("clip", 0, 1e9, request.clip);
    request.timeout = limitAt(fields, "timeout_seconds", request.timeout);
    request.save = pathAt(fields, "save");
    request.saveStep = fields.whole("save_step", 0, request.steps, 0);
    request.resume = pathAt(fields, "resume");
    request.compareUnsharded = fields.flag("compare_unsharded", request.compareUnsharded);
    if (!fields.fault() && request.save.empty() && fields.has("save_step"))
        fields.fail("save_step", "is given without 'save'; say where to save");
    fields.refuseUnknown();
    if (fields.fault())
        return *fields.fault();
    request.plan = json->at("plan").dump(-1, ' ', false, Json::error_handler_t::replace);
    return request;
}

} // namespace loadline
