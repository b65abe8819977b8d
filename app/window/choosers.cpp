// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/choosers.hpp"

#include "core/cluster/library.hpp"
#include "core/cluster/recipe.hpp"
#include "core/model/reader.hpp"
#include "views/format/text.hpp"

#include <QComboBox>
#include <QFileInfo>
#include <QIntValidator>
#include <QLabel>
#include <QLineEdit>
#include <QToolBar>

namespace loadline {
namespace {

constexpr int kSequences[] = {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072};
constexpr int kBatches[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

} // namespace

Choosers::Choosers(QToolBar* first, QToolBar* second, QObject* parent)
    : QObject(parent), m_model(add(first, tr("Model"), 128)), m_cluster(add(first, tr("Cluster"), 120)),
      m_nodes(add(first, tr("Nodes"), 52)), m_gpus(add(first, tr("GPUs"), 48)), m_sequence(add(second, tr("Sequence"), 78)),
      m_batch(add(second, tr("Batch"), 84)), m_accumulation(add(second, QStringLiteral("\u00d7"), 56)),
      m_precision(add(second, tr("Precision"), 104)), m_optimizer(add(second, tr("Optimizer"), 76)),
      m_recompute(add(second, tr("Recompute"), 70)), m_unit(add(second, tr("Unit"), 84)), m_runtime(add(second, tr("Runtime"), 84)),
      m_time(add(second, tr("Time"), 72))
{
    m_accumulation->setAccessibleName(tr("Micro-steps"));
    m_accumulation->setToolTip(tr("Micro-steps that one optimizer step adds up"));
    fillModels();
    fillRest();
    for (const Cluster& cluster : bundledClusters())
        m_cluster->addItem(text(cluster.name), text(cluster.name));
    for (const int tokens : kSequences)
        m_sequence->addItem(QString::number(tokens), QString::number(tokens));
    m_sequence->setEditable(true);
    m_sequence->setInsertPolicy(QComboBox::NoInsert);
    m_sequence->lineEdit()->setValidator(new QIntValidator(1, 1 << 30, this));
    m_batch->addItem(tr("auto"), QStringLiteral("auto"));
    for (const int batch : kBatches)
        m_batch->addItem(QString::number(batch), QString::number(batch));
    for (const PrecisionRecipe& recipe : bundledPrecisions())
        m_precision->addItem(text(recipe.name), text(recipe.name));
    connect(m_model, &QComboBox::activated, this, [this](int index) {
        const QString name = m_model->itemData(index).toString();
        name.isEmpty() ? emit openAsked() : emit modelChosen(name);
    });
    connect(m_cluster, &QComboBox::activated, this, [this](int index) { emit clusterChosen(m_cluster->itemData(index).toString()); });
    connect(m_batch, &QComboBox::activated, this, [this](int index) { emit batchChosen(m_batch->itemData(index).toString()); });
    connect(m_precision, &QComboBox::activated, this, [this](int index) { emit precisionChosen(m_precision->itemData(index).toString()); });
    connect(m_sequence, &QComboBox::activated, this, [this](int index) { emit sequenceChosen(m_sequence->itemData(index).toLongLong()); });
    connect(m_sequence->lineEdit(), &QLineEdit::returnPressed, this,
            [this] { emit sequenceChosen(m_sequence->currentText().toLongLong()); });
}

void Choosers::fillRest()
{
    for (const int count : {1, 2, 4, 8, 16, 32, 64, 128})
        m_nodes->addItem(QString::number(count), QString::number(count));
    for (const int count : {1, 2, 4, 8})
        m_gpus->addItem(QString::number(count), QString::number(count));
    m_accumulation->addItem(QStringLiteral("1"), QString());
    m_accumulation->addItem(tr("auto"), QStringLiteral("auto"));
    for (const int count : {2, 4, 8, 16, 32, 64})
        m_accumulation->addItem(QString::number(count), QString::number(count));
    for (const OptimizerRecipe& recipe : bundledOptimizers())
        m_optimizer->addItem(text(recipe.name), text(recipe.name));
    // These are the words of loadline-plan's flags, the same in every language.
    const auto fill = [](QComboBox* box, std::initializer_list<const char*> words) {
        for (const char* word : words)
            box->addItem(QLatin1String(word), QLatin1String(word));
    };
    fill(m_recompute, {"off", "auto", "all", "attention", "mlp", "parts"});
    fill(m_unit, {"operator", "part", "block"});
    fill(m_runtime, {"loadline", "fsdp2", "osdp-release"});
    fill(m_time, {"serial", "overlap"});
    m_time->setToolTip(
        tr("What the search makes least: the sum of compute and communication (as in the paper), or the time of both overlapped"));
    joinText(m_time, tr("Time %1"), &RequestOptions::time);
    joinText(m_accumulation, tr("Micro-steps %1"), &RequestOptions::accumulation);
    joinText(m_optimizer, tr("Optimizer %1"), &RequestOptions::optimizer);
    joinText(m_recompute, tr("Recompute %1"), &RequestOptions::recompute);
    joinText(m_unit, tr("Unit %1"), &RequestOptions::unit);
    joinText(m_runtime, tr("Runtime %1"), &RequestOptions::runtime);
    joinCount(m_nodes, tr("%1 nodes"), true);
    joinCount(m_gpus, tr("%1 GPUs per node"), false);
}

void Choosers::joinText(QComboBox* box, const QString& step, std::string RequestOptions::*member)
{
    connect(box, &QComboBox::activated, this, [this, box, step, member](int index) {
        RequestOptions options = m_options;
        options.*member = box->itemData(index).toString().toStdString();
        if (member == &RequestOptions::unit)
            options.pins.clear(); // they name units of the other kind
        emit optionsChosen(step.arg(box->itemText(index)), options);
    });
}

void Choosers::joinCount(QComboBox* box, const QString& step, bool nodes)
{
    connect(box, &QComboBox::activated, this, [this, box, step, nodes](int index) {
        RequestOptions options = m_options;
        const std::int64_t count = box->itemData(index).toLongLong();
        const auto own = loadCluster(options.cluster);
        std::optional<std::int64_t>& value = nodes ? options.nodes : options.gpusPerNode;
        value = count;
        if (own && count == (nodes ? own->nodes : own->gpusPerNode))
            value.reset();
        emit optionsChosen(step.arg(count), options);
    });
}

void Choosers::showShape(const RequestOptions& options)
{
    const auto cluster = resolveCluster(options);
    if (!cluster)
        return;
    for (const auto& [box, count] : {std::pair(m_nodes, cluster->nodes), std::pair(m_gpus, cluster->gpusPerNode)})
        select(box, QString::number(count), QString::number(count));
}

QComboBox* Choosers::add(QToolBar* bar, const QString& label, int width)
{
    auto* words = new QLabel(label, bar);
    words->setObjectName(QStringLiteral("chooser"));
    auto* box = new QComboBox(bar);
    box->setMinimumWidth(width);
    box->setMaximumWidth(width + width / 2);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMaxVisibleItems(24);
    box->setAccessibleName(label);
    words->setBuddy(box);
    bar->addWidget(words);
    bar->addWidget(box);
    return box;
}

void Choosers::fillModels()
{
    for (const std::string& name : bundledModels())
        m_model->addItem(text(name), text(name));
    m_model->insertSeparator(m_model->count());
    m_model->addItem(tr("Open a file\u2026"), QString());
}

void Choosers::select(QComboBox* box, const QString& value, const QString& words)
{
    int index = box->findData(value);
    if (index < 0) {
        box->insertItem(0, words, value);
        index = 0;
    }
    box->setCurrentIndex(index);
}

void Choosers::setInputs(const Inputs& inputs)
{
    const RequestOptions& options = inputs.options;
    const QString model = text(options.model);
    select(m_model, model, inputs.model ? text(inputs.model->name) : model);
    const QString cluster = text(options.cluster);
    select(m_cluster, cluster, QFileInfo(cluster).completeBaseName());
    const qint64 tokens = options.sequence.value_or(inputs.model ? inputs.model->defaultSequence : 0);
    select(m_sequence, QString::number(tokens), QString::number(tokens));
    select(m_batch, text(options.batch), text(options.batch));
    select(m_precision, text(options.precision), text(options.precision));
    m_options = options;
    showShape(options);
    const std::string accumulation = options.accumulation == "1" ? std::string() : options.accumulation;
    select(m_accumulation, text(accumulation), text(accumulation));
    select(m_optimizer, text(options.optimizer), QFileInfo(text(options.optimizer)).completeBaseName());
    select(m_recompute, text(options.recompute), text(options.recompute));
    select(m_unit, text(options.unit), text(options.unit));
    select(m_runtime, text(options.runtime), text(options.runtime));
    select(m_time, text(options.time), text(options.time));
}

void Choosers::setChosenBatch(std::int64_t batch)
{
    m_batch->setItemText(m_batch->findData(QStringLiteral("auto")), batch > 0 ? tr("%1 (auto)").arg(batch) : tr("auto"));
}

} // namespace loadline
