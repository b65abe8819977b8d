// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/step_page.hpp"

#include "views/charts/decision_strip.hpp"
#include "views/charts/memory_chart.hpp"
#include "views/charts/time_chart.hpp"
#include "views/format/text.hpp"
#include "views/palette.hpp"
#include "views/panels/title_row.hpp"

#include <QVBoxLayout>

#include <algorithm>

namespace loadline {
namespace {

std::vector<TitleRow::Item> categoryLegend()
{
    std::vector<TitleRow::Item> items;
    for (std::size_t i = 0; i < kMemoryCategories; ++i)
        items.push_back({categoryText(static_cast<MemoryCategory>(i)), [i](const Palette& colors) { return colors.category[i]; }});
    return items;
}

} // namespace

StepPage::StepPage(QWidget* parent)
    : QWidget(parent), m_memoryTitle(new TitleRow(tr("Memory over one step"), tr("one GPU, GiB"), this)), m_memory(new MemoryChart(this)),
      m_strip(new DecisionStrip(this)), m_timeTitle(new TitleRow(tr("Time per operator"), tr("ms"), this)), m_time(new TimeChart(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_memoryTitle);
    layout->addWidget(m_memory, 5);
    layout->addWidget(m_strip);
    layout->addWidget(m_timeTitle);
    layout->addWidget(m_time, 3);
    m_memoryTitle->setLegend(categoryLegend());
    m_timeTitle->setLegend({{tr("compute"), [](const Palette& colors) { return colors.compute; }},
                            {tr("hidden communication"), [](const Palette& colors) { return colors.hidden; }},
                            {tr("exposed communication"), [](const Palette& colors) { return colors.exposed; }}});
    connect(m_memory, &Chart::hovered, this, &StepPage::hovered);
    connect(m_time, &Chart::hovered, this, &StepPage::hovered);
    connect(m_strip, &DecisionStrip::hovered, this, &StepPage::hovered);
    connect(m_time, &Chart::shownChanged, m_strip, &DecisionStrip::setShown);
    connect(m_memory, &MemoryChart::unitHovered, this, &StepPage::markUnit);
    connect(m_time, &TimeChart::unitHovered, this, &StepPage::markUnit);
    connect(m_strip, &DecisionStrip::unitHovered, this, &StepPage::markUnit);
}

void StepPage::markUnit(int unit)
{
    m_strip->markUnit(unit);
    m_time->markUnit(unit);
}

void StepPage::setPicture(const PlanPicturePtr& picture)
{
    m_memory->setPicture(picture);
    m_strip->setPicture(picture);
    m_time->setPicture(picture);
    if (const Plan* plan = picture ? picture->plan() : nullptr) {
        const auto& units = plan->table.units;
        const bool estimated = std::any_of(units.begin(), units.end(), [](const Unit& unit) { return unit.estimated; });
        m_timeTitle->setUnit(estimated ? tr("ms, estimated") : tr("ms, compute measured"));
    }
}

void StepPage::setGhost(const PlanPicturePtr& ghost)
{
    m_memory->setGhost(ghost);
    m_time->setGhost(ghost);
}

void StepPage::setVeiled(bool veiled)
{
    m_memory->setVeiled(veiled);
    m_time->setVeiled(veiled);
}

void StepPage::holdAxes(bool hold)
{
    m_time->holdAxis(hold);
}

void StepPage::frameUnits(const std::vector<std::size_t>& units)
{
    m_strip->markUnits(units);
}

} // namespace loadline
