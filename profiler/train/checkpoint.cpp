// SPDX-License-Identifier: GPL-3.0-or-later
// Trainer's whole parameters and checkpoints: index.json names each parameter with its shape; one file a parameter holds its value and
// then its optimizer state, fp32 as the machine writes it.
#include "profiler/train/trainer.hpp"

#include "core/base/json.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <map>

namespace loadline {
namespace {

namespace fs = std::filesystem;
constexpr const char* kFormat = "loadline.checkpoint/1";

/// Everything that is known of one parameter, whole: its value, then the optimizer's state.
using Whole = std::vector<at::Tensor>;

std::string fileOf(std::size_t index)
{
    return fmt::format("parameter-{:05}.f32", index);
}

std::map<std::string, const Parameter*> parametersOf(const std::vector<std::unique_ptr<FlatParameters>>& flats)
{
    std::map<std::string, const Parameter*> parameters;
    for (const auto& flat : flats)
        for (const FlatEntry& entry : flat->entries())
            parameters[entry.parameter->name] = entry.parameter;
    return parameters;
}

bool writeWhole(const fs::path& path, const Whole& whole)
{
    std::ofstream out(path, std::ios::binary);
    for (const at::Tensor& tensor : whole)
        out.write(static_cast<const char*>(tensor.data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
    out.flush();
    return out.good();
}

bool readWhole(const fs::path& path, Whole& whole)
{
    std::error_code failure;
    std::uintmax_t size = 0;
    for (const at::Tensor& tensor : whole)
        size += tensor.nbytes();
    if (fs::file_size(path, failure) != size || failure)
        return false;
    std::ifstream in(path, std::ios::binary);
    for (at::Tensor& tensor : whole)
        in.read(static_cast<char*>(tensor.data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
    return in.good();
}

} // namespace

std::vector<at::Tensor> Trainer::localTensors(FlatParameters& flat) const
{
    std::vector<at::Tensor> tensors{flat.local()};
    tensors.insert(tensors.end(), flat.optimizerState().begin(), flat.optimizerState().end());
    return tensors;
}

at::Tensor Trainer::wholeParameter(const std::string& name)
{
    at::Tensor whole;
    for (const auto& flat : m_executor->flats()) {
        std::vector<at::Tensor> wholes;
        bool wanted = false;
        for (const FlatEntry& entry : flat->entries()) {
            const bool is = entry.parameter->name == name;
            wanted = wanted || is;
            if (is && !whole.defined())
                whole = at::zeros(entry.parameter->shape);
            wholes.push_back(is ? whole : at::zeros(entry.parameter->shape));
        }
        if (wanted)
            flat->gatherWhole(flat->local(), wholes);
    }
    return whole;
}

Result<bool> Trainer::save(const std::string& folder)
{
    const bool writes = !m_world || m_world->rank() == 0;
    bool good = true;
    std::error_code failure;
    if (writes)
        fs::create_directories(folder, failure);
    nlohmann::json index{
        {"format", kFormat}, {"step", m_step}, {"model", m_table.setup.model->name}, {"parameters", nlohmann::json::array()}};
    std::size_t number = 0;
    for (const auto& [name, parameter] : parametersOf(m_executor->flats())) {
        Whole whole;
        const std::size_t tensors = 1 + (parameter->trainable ? m_optimizer->stateTensors() : 0);
        for (std::size_t i = 0; i < tensors; ++i)
            whole.push_back(at::zeros(parameter->shape));
        for (const auto& flat : m_executor->flats()) {
            const auto locals = localTensors(*flat);
            std::vector<std::size_t> mine;
            for (const FlatEntry& entry : flat->entries())
                mine.push_back(entry.parameter == parameter ? 1 : 0);
            if (std::find(mine.begin(), mine.end(), 1U) == mine.end())
                continue;
            for (std::size_t i = 0; i < whole.size(); ++i) {
                std::vector<at::Tensor> wholes;
                for (std::size_t e = 0; e < mine.size(); ++e)
                    wholes.push_back(mine[e] != 0 ? whole[i] : at::zeros(flat->entries()[e].parameter->shape));
                flat->gatherWhole(locals[i], wholes);
            }
        }
        index["parameters"].push_back({{"name", name}, {"shape", parameter->shape}, {"tensors", tensors}});
        if (writes)
            good = good && writeWhole(fs::path(folder) / fileOf(number), whole);
        ++number;
    }
    if (writes)
        good = good && writeFile(fs::path(folder) / "index.json", index.dump(1) + "\n").ok();
    if (m_world)
        m_world->barrier();
    if (!good)
        return ioError(fmt::format("checkpoint folder {} cannot be written; give another", folder));
    return true;
}

Result<bool> Trainer::resume(const std::string& folder)
{
    const auto text = readFile(fs::path(folder) / "index.json");
    if (!text)
        return text.error();
    const auto index = nlohmann::json::parse(*text, nullptr, false);
    if (!index.is_object() || index.value("format", std::string()) != kFormat || !index.contains("step") ||
        !index["step"].is_number_integer() || !index.contains("parameters") || !index["parameters"].is_array())
        return invalidInput(fmt::format("{}/index.json is no {} of Loadline; give a folder that a training saved", folder, kFormat));
    std::map<std::string, std::size_t> numbers;
    for (std::size_t i = 0; i < index["parameters"].size(); ++i) {
        const auto& each = index["parameters"][i];
        if (each.is_object() && each.contains("name") && each["name"].is_string())
            numbers[each["name"].get<std::string>()] = i;
    }
    for (const auto& [name, parameter] : parametersOf(m_executor->flats())) {
        const auto found = numbers.find(name);
        if (found == numbers.end())
            return invalidInput(fmt::format("checkpoint {} has no parameter {}; it is of another model", folder, name));
        Whole whole;
        for (std::size_t i = 0; i < 1 + (parameter->trainable ? m_optimizer->stateTensors() : 0); ++i)
            whole.push_back(at::zeros(parameter->shape));
        if (!readWhole(fs::path(folder) / fileOf(found->second), whole))
            return invalidInput(
                fmt::format("checkpoint file {} of parameter {} is damaged or of another model or optimizer; give another checkpoint",
                            fileOf(found->second), name));
        for (const auto& flat : m_executor->flats()) {
            const auto locals = localTensors(*flat);
            for (std::size_t i = 0; i < whole.size() && i < locals.size(); ++i)
                flat->scatterOne(locals[i], *parameter, whole[i]);
        }
    }
    m_step = index["step"].get<std::int64_t>();
    m_optimizer->setSteps(m_step);
    return true;
}

} // namespace loadline
