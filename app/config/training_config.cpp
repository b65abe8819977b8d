// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/config/training_config.hpp"

#include "app/config/document.hpp"
#include "app/config/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace loadline {
namespace {

constexpr std::int64_t kMostFileBytes = 8LL << 20;

std::string lower(std::string text)
{
    for (char& c : text)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

/// Well-formed UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
bool isValidUtf8(std::string_view text)
{
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
        const unsigned lead = byte(i);
        const std::size_t length = lead < 0x80                   ? 1
                                   : lead >= 0xC2 && lead < 0xE0 ? 2
                                   : lead >= 0xE0 && lead < 0xF0 ? 3
                                   : lead >= 0xF0 && lead < 0xF5 ? 4
                                                                 : 0;
        if (length == 0)
            return false;
        for (std::size_t k = 1; k < length; ++k) {
            if ((byte(i + k) & 0xC0U) != 0x80U)
                return false;
        }
        const unsigned second = byte(i + 1);
        if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) || (lead == 0xF0 && second < 0x90) ||
            (lead == 0xF4 && second > 0x8F))
            return false;
        i += length;
    }
    return true;
}

} // namespace

Sharding zeroStage(std::int64_t stage)
{
    switch (stage) {
    case 0:
        return Sharding::Nothing;
    case 1:
        return Sharding::Optimizer;
    case 2:
        return Sharding::Gradients;
    default:
        return Sharding::Everything;
    }
}

std::string optimizerRecipe(const ConfigFields& where, const std::string& name, double momentum)
{
    const auto word = lower(name);
    if (word == "adam" || word == "adamw" || word == "fusedadam" || word == "torchadam" || word == "cpuadam" || word == "deepspeedcpuadam")
        return "adamw";
    if (word == "sgd")
        return momentum > 0 ? "sgd-momentum" : "sgd";
    if (word == "lion" || word == "fusedlion" || word == "cpulion")
        return "lion";
    if (word == "adafactor")
        return "adafactor";
    if (word == "adam8bit" || word == "adamw8bit" || word == "adamw_8bit")
        return "adam8bit";
    where.note(fmt::format("the optimizer '{}' is not known: adamw is taken", name.substr(0, 60)));
    return "adamw";
}

void leaveOutDegree(const ConfigFields& where, std::string_view key)
{
    if (const auto degree = where.whole(key, 0, kMostConfigRanks); degree && *degree > 1)
        where.note(fmt::format("{} {} is left out: all ranks count as data-parallel", key, *degree));
}

Result<Json> parseConfigDocument(std::string_view text, ConfigSyntax syntax, std::string_view origin)
{
    switch (syntax) {
    case ConfigSyntax::JsonText:
        return parseJson(text, origin, JsonDialect::Python);
    case ConfigSyntax::YamlText:
        return parseYaml(text, origin);
    case ConfigSyntax::TomlText:
        return parseToml(text, origin);
    }
    return invalidInput(fmt::format("{} is in no known syntax", origin));
}

Result<TrainingConfig> readTrainingConfig(std::string_view text, ConfigSyntax syntax, std::string_view origin)
{
    if (!isValidUtf8(text))
        return invalidInput(fmt::format("{} is not text in UTF-8; convert it", origin));
    auto document = parseConfigDocument(text, syntax, origin);
    if (!document)
        return document.error();
    if (!document->is_object())
        return invalidInput(fmt::format("{} is no training configuration: it must be an object of keys", origin));
    ReadLog log{.origin = origin, .problem = {}, .notes = {}};
    const ConfigFields root(&*document, "", log);
    TrainingConfig config;
    if (root.has("dp_types_enc") || root.has("tp_sizes_enc"))
        config = readGalvatron(root);
    else if (root.has("zero_optimization") || root.has("train_micro_batch_size_per_gpu") || root.has("train_batch_size"))
        config = readDeepSpeed(root);
    else if (root.has("distributed_type") || root.has("fsdp_config"))
        config = readAccelerate(root);
    else if (root.has("training") || root.has("parallelism"))
        config = readTorchtitan(root);
    else
        return invalidInput(
            fmt::format("{} is no configuration of DeepSpeed, Accelerate, torchtitan or Galvatron: none of their keys is there", origin));
    if (!log.problem.empty())
        return invalidInput(log.problem);
    config.notes = std::move(log.notes);
    return config;
}

Result<TrainingConfig> loadTrainingConfig(const std::filesystem::path& path)
{
    const auto suffix = lower(path.extension().string());
    ConfigSyntax syntax = ConfigSyntax::JsonText;
    if (suffix == ".yaml" || suffix == ".yml")
        syntax = ConfigSyntax::YamlText;
    else if (suffix == ".toml")
        syntax = ConfigSyntax::TomlText;
    else if (suffix != ".json")
        return invalidInput(
            fmt::format("'{}' ends in none of .json, .yaml, .yml, .toml; rename it so that its syntax shows", path.string()));
    auto text = readFile(path, kMostFileBytes);
    if (!text)
        return text.error();
    return readTrainingConfig(*text, syntax, fmt::format("'{}'", path.string()));
}

} // namespace loadline
