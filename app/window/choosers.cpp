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

Choosers::Choosers(QToolBar* bar, QObject* parent)
    : QObject(parent), m_model(add(bar, tr("Model"), 128)), m_cluster(add(bar, tr("Cluster"), 150)),
      m_sequence(add(bar, tr("Sequence"), 84)), m_batch(add(bar, tr("Batch"), 88)), m_precision(add(bar, tr("Precision"), 118))
{
    fillModels();
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

QComboBox* Choosers::add(QToolBar* bar, const QString& label, int width)
{
    auto* words = new QLabel(label, bar);
    words->setObjectName(QStringLiteral("chooser"));
    auto* box = new QComboBox(bar);
    box->setMinimumWidth(width);
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
}

void Choosers::setChosenBatch(std::int64_t batch)
{
    m_batch->setItemText(m_batch->findData(QStringLiteral("auto")), batch > 0 ? tr("%1 (auto)").arg(batch) : tr("auto"));
}

} // namespace loadline
