// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/detail_tabs.hpp"

#include "views/charts/stream_chart.hpp"
#include "views/format/text.hpp"
#include "views/models/baseline_model.hpp"
#include "views/panels/cell_delegates.hpp"
#include "views/panels/operator_details.hpp"

#include <QHeaderView>
#include <QPlainTextEdit>
#include <QTabBar>
#include <QTreeView>

namespace loadline {

DetailTabs::DetailTabs(QWidget* parent)
    : QTabWidget(parent), m_baselines(new BaselineModel(this)), m_table(new QTreeView(this)), m_operator(new OperatorDetails(this)),
      m_streams(new StreamChart(this)), m_notes(new QPlainTextEdit(this))
{
    setDocumentMode(true);
    tabBar()->setDrawBase(false);
    tabBar()->setExpanding(false);
    addTab(m_table, tr("Baselines"));
    addTab(m_operator, tr("Operator"));
    addTab(m_streams, tr("Two streams"));
    addTab(m_notes, tr("Notes"));
    connect(this, &QTabWidget::currentChanged, this, &DetailTabs::fillOperator);
    connect(m_operator, &OperatorDetails::hovered, this, &DetailTabs::hovered);
    connect(m_streams, &Chart::hovered, this, &DetailTabs::hovered);
    m_table->setModel(m_baselines);
    m_table->setItemDelegate(new RowDelegate(m_table));
    m_table->setRootIsDecorated(false);
    m_table->setUniformRowHeights(true);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setAccessibleName(tr("Baselines beside this plan"));
    QHeaderView* header = m_table->header();
    for (const auto& [column, width] :
         {std::pair(BaselineModel::Name, 190), std::pair(BaselineModel::Peak, 110), std::pair(BaselineModel::StepTime, 110),
          std::pair(BaselineModel::AgainstPlan, 160), std::pair(BaselineModel::Fits, 190)})
        header->resizeSection(column, width);
    header->setStretchLastSection(true);
    m_notes->setReadOnly(true);
    m_notes->setFrameShape(QFrame::NoFrame);
    m_notes->setAccessibleName(tr("Notes on the figures"));
}

void DetailTabs::setPicture(const PlanPicturePtr& picture)
{
    m_baselines->setPicture(picture);
    m_picture = picture;
    m_streams->setPicture(picture);
    fillOperator();
    const Plan* plan = picture ? picture->plan() : nullptr;
    const QString words = plan ? notesOf(*plan).join(QLatin1Char('\n')) : QString();
    if (plan && words != m_notes->toPlainText())
        m_notes->setPlainText(words);
}

void DetailTabs::showUnit(std::size_t unit)
{
    m_unit = unit;
    fillOperator();
}

/// Only while it is seen: its formulas cost a pass over the model.
void DetailTabs::fillOperator()
{
    if (currentWidget() == m_operator && m_unit && m_picture && m_picture->plan())
        m_operator->setUnit(m_picture, *m_unit, std::nullopt);
}

void DetailTabs::setBaselines(std::vector<Baseline> baselines)
{
    m_baselines->setBaselines(std::move(baselines));
}

QString DetailTabs::notes() const
{
    return m_notes->toPlainText();
}

QStringList DetailTabs::notesOf(const Plan& plan)
{
    const Setup& setup = plan.table.setup;
    const Device& device = setup.cluster.device;
    QStringList lines;
    lines << tr("Model %1: %2 parameters, %3 trainable.")
                 .arg(text(setup.model->name), wholeText(setup.model->parameterCount()), wholeText(setup.model->trainableCount()));
    for (const std::string& note : setup.model->notes)
        lines << text(note);
    lines << tr("Cluster %1: %2 x %3 %4 with %5 each. %6")
                 .arg(text(setup.cluster.name), wholeText(setup.cluster.nodes), wholeText(setup.cluster.gpusPerNode), text(device.name),
                      bytesText(device.memory), text(device.source));
    lines << tr("Links inside a node: %1").arg(text(setup.cluster.intra.source));
    if (setup.cluster.nodes > 1)
        lines << tr("Links between nodes: %1").arg(text(setup.cluster.inter.source));
    lines << tr("Precision %1. %2").arg(text(setup.precision.name), text(setup.precision.source));
    lines << tr("Optimizer %1. %2").arg(text(setup.optimizer.name), text(setup.optimizer.source));
    lines << tr("Memory follows the rules of the runtime '%1'; the paper's bound for this plan is %2.")
                 .arg(text(setup.rules.name), bytesText(plan.paperPeak));
    lines << tr("Step time is the sum of compute (%1) and communication (%2); played on two streams it is %3.")
                 .arg(secondsText(plan.time.compute), secondsText(plan.time.communication), secondsText(plan.time.overlapped));
    if (!setup.profile)
        lines << tr("Compute times are estimated: %1 of peak FLOP/s and %2 of memory bandwidth, until a profile replaces them.")
                     .arg(percentText(device.flopsEfficiency), percentText(device.memoryEfficiency));
    return lines;
}

} // namespace loadline
