// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/documents.hpp"

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/cluster/library.hpp"
#include "core/cost/profile.hpp"
#include "core/model/reader.hpp"

#include <nlohmann/json.hpp>

#include <QDir>
#include <QFileInfo>
#include <QSaveFile>
#include <QStandardPaths>

#include <algorithm>

namespace loadline {
namespace {

constexpr std::string_view kOptionsFormat = "loadline.options/1";

/// The text members of the options with their keys: one list for writing and reading.
template <class Options, class Use>
void eachText(Options& options, Use use)
{
    use("model", options.model);
    use("lora", options.lora);
    use("cluster", options.cluster);
    use("budget", options.budget);
    use("batch", options.batch);
    use("accumulation", options.accumulation);
    use("granularity", options.granularity);
    use("groups", options.groups);
    use("recompute", options.recompute);
    use("unit", options.unit);
    use("precision", options.precision);
    use("attention", options.attention);
    use("dropout", options.dropout);
    use("optimizer", options.optimizer);
    use("overhead", options.overhead);
    use("memory", options.memory);
    use("time", options.time);
    use("runtime", options.runtime);
    use("profile", options.profile);
}

template <class Options, class Use>
void eachNumber(Options& options, Use use)
{
    use("nodes", options.nodes);
    use("gpus_per_node", options.gpusPerNode);
    use("sequence", options.sequence);
    use("global_batch", options.globalBatch);
    use("work", options.work);
}

bool isBundled(const std::string& name)
{
    const auto bundled = bundledModels();
    return std::find(bundled.begin(), bundled.end(), name) != bundled.end();
}

std::string joined(const auto& values)
{
    std::string words;
    for (const auto value : values)
        words += (words.empty() ? "" : ",") + std::to_string(value);
    return words;
}

/// The name by which the same cluster is found again, else a file with it.
Result<std::string> clusterName(const Cluster& cluster, const std::string& known, const std::string& folder)
{
    for (const std::string& name : {known, cluster.name}) {
        if (const auto found = loadCluster(name); found && *found == cluster)
            return name;
    }
    std::string plain;
    for (const char c : cluster.name)
        plain += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' ? c : '-';
    const QString file =
        QDir(QString::fromStdString(folder)).filePath(QString::fromStdString(plain) + QStringLiteral(".loadline-cluster.json"));
    if (const auto written = writeWhole(file, writeCluster(cluster)); !written)
        return written.error();
    return file.toStdString();
}

Result<std::string> profileName(const SavedPlan& plan, const std::string& folder)
{
    const Setup& setup = plan.document.setup;
    if (!setup.profile)
        return std::string();
    const QString file = QDir(QString::fromStdString(folder)).filePath(QStringLiteral("of-a-plan.loadline-profile.jsonl"));
    if (const auto written = writeWhole(file, writeProfile(*setup.profile)); !written)
        return written.error();
    return file.toStdString();
}

} // namespace

Result<Opened> openDocument(const std::string& fileOrName)
{
    if (!isBundled(fileOrName)) {
        const auto text = readFile(fileOrName);
        const std::string head = text ? text->substr(0, 4096) : std::string();
        const auto says = [&](const char* format) { return head.find(format) != std::string::npos; };
        if (says("\"loadline.plan/")) {
            auto plan = loadPlan(fileOrName);
            return plan ? Result<Opened>(Opened(*std::move(plan))) : Result<Opened>(plan.error());
        }
        if (says("\"loadline.cluster/")) {
            auto cluster = loadCluster(fileOrName);
            return cluster ? Result<Opened>(Opened(*std::move(cluster))) : Result<Opened>(cluster.error());
        }
        if (says("\"loadline.profile/")) {
            auto profile = loadProfile(fileOrName);
            if (!profile)
                return profile.error();
            return Opened(OpenedProfile{fileOrName, std::make_shared<const Profile>(*std::move(profile))});
        }
    }
    auto model = loadModel(fileOrName);
    if (!model)
        return model.error();
    return Opened(std::make_shared<const Model>(*std::move(model)));
}

Result<Inputs> inputsOf(const SavedPlan& plan, const std::string& folder)
{
    const Setup& setup = plan.document.setup;
    Inputs inputs;
    RequestOptions& options = inputs.options;
    inputs.model = setup.model;
    inputs.budget = plan.document.outcome.budget;
    options.model = plan.document.provenance.model;
    const auto cluster = clusterName(setup.cluster, plan.document.provenance.cluster, folder);
    if (!cluster)
        return cluster.error();
    options.cluster = *cluster;
    const auto profile = profileName(plan, folder);
    if (!profile)
        return profile.error();
    options.profile = *profile;
    options.sequence = setup.sequence;
    options.batch = std::to_string(setup.batch);
    options.accumulation = std::to_string(setup.accumulation);
    options.granularity = joined(setup.granularities);
    options.groups = setup.groups.empty() ? std::string("auto") : joined(setup.groups);
    const bool whole = plan.document.outcome.plan.has_value();
    options.recompute = whole && setup.recomputedBlocks == 0 ? "off" : "auto";
    options.unit = unitWord(setup.unit);
    options.precision = setup.precision.name;
    options.attention = attentionWord(setup.attention);
    options.dropout = setup.dropout ? formatCount(*setup.dropout) : std::string("config");
    options.optimizer = setup.optimizer.name;
    options.memory = memoryWord(setup.memory);
    options.time = timeWord(setup.time);
    options.runtime = setup.rules.name;
    if (setup.overhead)
        options.overhead = std::to_string(setup.overhead->count());
    return inputs;
}

PlanDocument documentOf(const PlanAnswer& answer)
{
    PlanDocument document{*answer.outcome,
                          answer.outcome->plan ? answer.outcome->plan->table.setup : answer.resolved.request.setup,
                          answer.resolved.provenance,
                          answer.resolved.request.pins,
                          {}};
    document.outcome.budget = answer.inputs.budget;
    return document;
}

std::string optionsJson(const RequestOptions& options, Bytes budget)
{
    Json json{{"format", kOptionsFormat}, {"budget_bytes", budget.count()}, {"pins", options.pins}};
    eachText(options, [&](const char* key, const std::string& value) { json[key] = value; });
    eachNumber(options, [&](const char* key, const std::optional<std::int64_t>& value) {
        if (value)
            json[key] = *value;
    });
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<SavedOptions> readOptions(std::string_view text, std::string_view origin)
{
    const auto wrong = [&](const std::string& what) { return invalidInput(std::string(origin) + ": " + what); };
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object())
        return wrong("the settings are not JSON");
    if (json.value("format", Json()) != kOptionsFormat)
        return wrong("the settings are of another version; open it with the Loadline that wrote it");
    SavedOptions saved;
    std::string bad;
    eachText(saved.options, [&](const char* key, std::string& value) {
        if (const auto found = json.find(key); found != json.end())
            found->is_string() ? void(value = found->get<std::string>()) : void(bad = key);
    });
    eachNumber(saved.options, [&](const char* key, std::optional<std::int64_t>& value) {
        if (const auto found = json.find(key); found != json.end())
            found->is_number_integer() ? void(value = found->get<std::int64_t>()) : void(bad = key);
    });
    if (const auto pins = json.find("pins"); pins != json.end()) {
        for (const Json& pin : *pins)
            pin.is_string() ? saved.options.pins.push_back(pin.get<std::string>()) : void(bad = "pins");
    }
    const auto budget = json.find("budget_bytes");
    if (budget == json.end() || !budget->is_number_integer() || budget->get<std::int64_t>() < 0)
        bad = "budget_bytes";
    else
        saved.budget = Bytes(budget->get<std::int64_t>());
    if (!bad.empty())
        return wrong("'" + bad + "' of the settings has a wrong type");
    return saved;
}

QString dataFolder()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + QStringLiteral("/loadline");
}

Result<bool> writeWhole(const QString& file, const std::string& text)
{
    QDir().mkpath(QFileInfo(file).absolutePath());
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly) || out.write(text.data(), static_cast<qint64>(text.size())) != static_cast<qint64>(text.size()) ||
        !out.commit())
        return ioError("'" + file.toStdString() + "' cannot be written (" + out.errorString().toStdString() + "); choose another place");
    return true;
}

} // namespace loadline
