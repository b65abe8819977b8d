// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/reader.hpp"

#include "core/base/embedded.hpp"
#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/model/families.hpp"
#include "core/model/format.hpp"
#include "core/model/index_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

namespace loadline {

std::span<const EmbeddedFile> embeddedModels();

namespace {

constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kStateSpaceTypes = "mamba mamba2 falcon_mamba nemotron_h jamba zamba zamba2 bamba recurrent_gemma rwkv xlstm";
constexpr std::string_view kOwnSuffix = ".loadline-model";

bool startsWithAnyCase(std::string_view text, std::string_view start)
{
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    return !start.empty() && text.size() >= start.size() && std::equal(start.begin(), start.end(), text.begin(), same);
}

bool isSpelling(std::string_view spellings, std::string_view type)
{
    const auto all = split(spellings, ' ');
    return std::find(all.begin(), all.end(), type) != all.end();
}

/// By model_type, else by the class in `architectures`; nullptr with the reader failed if neither is known.
const Family* familyOf(ConfigReader& c)
{
    const auto all = families();
    const auto classes = c.texts("architectures");
    if (c.has("model_type")) {
        const auto type = c.textOr("model_type", "");
        for (const auto& family : all)
            if (isSpelling(family.type, type))
                return &family;
        const bool stateSpace = isSpelling(kStateSpaceTypes, type);
        c.fail(fmt::format("the key 'model_type' is '{}', {}; describe the model by hand as docs/model-format.md says", type.substr(0, 60),
                           stateSpace ? "whose state-space layers cannot be planned" : "which Loadline does not know"),
               ErrorCode::Unsupported);
        return nullptr;
    }
    for (const auto& name : classes)
        for (const auto& family : all)
            if (startsWithAnyCase(name, family.classes))
                return &family;
    c.fail("the key 'model_type' is missing; add it, or describe the model by hand as docs/model-format.md says");
    return nullptr;
}

Result<Model> readConfig(const Json& config, std::string_view origin)
{
    ConfigReader reader(config, std::string(origin));
    const Family* family = familyOf(reader);
    ModelBuilder builder;
    if (family != nullptr && reader.ok())
        family->build(reader, builder);
    if (builder.tooLarge())
        reader.fail("the sizes give more than 2^53 parameters; correct the sizes");
    if (!reader.ok())
        return *reader.problem();
    auto model = std::move(builder.model);
    model.family = split(family->type, ' ').front();
    model.notes.insert(model.notes.end(), reader.notes().begin(), reader.notes().end());
    if (auto note = reader.defaultsNote(); !note.empty())
        model.notes.push_back(std::move(note));
    return model;
}

std::string_view bundledName(const EmbeddedFile& file)
{
    auto name = file.name;
    for (const auto suffix : {kSuffix, kOwnSuffix})
        if (name.ends_with(suffix))
            name.remove_suffix(suffix.size());
    return name;
}

/// "…/Llama-3-8B/config.json" is called Llama-3-8B, "…/gpt2-xl.json" gpt2-xl.
std::string nameOf(const std::filesystem::path& path)
{
    auto name = path.stem();
    if (name.extension() == kOwnSuffix)
        name = name.stem();
    std::error_code code;
    if (name == "config")
        if (const auto folder = std::filesystem::absolute(path, code).parent_path().filename(); !code && !folder.empty())
            return folder.string();
    return name.string();
}

/// Notes what an index of weights in the same folder says otherwise. An index that cannot be read is a note too: the model
/// itself is whole without it.
void compareWithIndex(const std::filesystem::path& config, Model& model)
{
    for (const auto* name : {"model.safetensors.index.json", "pytorch_model.bin.index.json"}) {
        const auto path = config.parent_path() / name;
        std::error_code code;
        if (!std::filesystem::exists(path, code))
            continue;
        const auto text = readFile(path);
        const auto sentences = text ? checkIndex(model, *text, fmt::format("'{}'", name)) : text.error();
        if (sentences)
            model.notes.insert(model.notes.end(), sentences->begin(), sentences->end());
        else
            model.notes.push_back(fmt::format("Not compared with the checkpoint: {}.", sentences.error().message));
    }
}

} // namespace

Result<Model> readModel(std::string_view text, std::string_view origin)
{
    const auto parsed = parseJson(text, origin, JsonDialect::Python);
    if (!parsed)
        return parsed.error();
    if (!parsed->is_object())
        return invalidInput(fmt::format("{}: a model is a JSON object; give a Hugging Face config.json or a Loadline model", origin));
    if (parsed->contains("format")) {
        // Bare words are Python's habit; in our own format a NaN that read as "missing" would hide a mistake.
        if (const auto strict = parseJson(text, origin); !strict)
            return strict.error();
        return readModelDocument(*parsed, origin);
    }
    return readConfig(*parsed, origin);
}

Result<Model> loadModel(const std::string& fileOrName)
{
    for (const auto& file : embeddedModels()) {
        if (bundledName(file) != fileOrName)
            continue;
        auto model = readModel(file.text, fmt::format("'{}'", fileOrName));
        if (model && model->name.empty())
            model->name = fileOrName;
        return model;
    }
    std::error_code code;
    if (!std::filesystem::exists(fileOrName, code))
        return notFound(fmt::format("'{}' is neither a file nor a bundled model; the bundled ones are {}", fileOrName,
                                    fmt::join(bundledModels(), ", ")));
    const auto text = readFile(fileOrName);
    if (!text)
        return text.error();
    auto model = readModel(*text, fmt::format("'{}'", fileOrName));
    if (!model)
        return model;
    if (model->name.empty())
        model->name = nameOf(fileOrName);
    compareWithIndex(fileOrName, *model);
    return model;
}

std::string_view bundledModelText(std::string_view name)
{
    for (const auto& file : embeddedModels())
        if (bundledName(file) == name)
            return file.text;
    return {};
}

std::vector<std::string> bundledModels()
{
    std::vector<std::string> names;
    for (const auto& file : embeddedModels())
        names.emplace_back(bundledName(file));
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace loadline
