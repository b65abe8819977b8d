// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/documents.hpp"

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/cluster/library.hpp"
#include "core/cost/profile.hpp"
#include "core/model/reader.hpp"

#include <QDir>
#include <QFileInfo>
#include <QSaveFile>
#include <QStandardPaths>

#include <algorithm>

namespace loadline {
namespace {

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
