// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/batch_page.hpp"

#include "views/charts/batch_map.hpp"
#include "views/format/text.hpp"
#include "views/pages/page_parts.hpp"
#include "views/panels/title_row.hpp"
#include "views/panels/work_row.hpp"

#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace loadline {

BatchPage::BatchPage(QWidget* parent)
    : QWidget(parent), m_work(new WorkRow(tr("Batch surface"), tr("Compute anew"), this)), m_map(new BatchMap(this))
{
    auto* column = panelColumn(this);
    column->addWidget(m_work);
    auto* title = new TitleRow(tr("Throughput"), tr("samples/s of the whole job; hatched: nothing fits the budget"), this);
    column->addWidget(title);
    column->addWidget(m_map, 1);
    connect(m_work, &WorkRow::startAsked, this, &BatchPage::startAsked);
    connect(m_work, &WorkRow::cancelAsked, this, &BatchPage::cancelAsked);
    connect(m_map, &BatchMap::cellChosen, this, &BatchPage::cellChosen);
    connect(m_map, &BatchMap::hovered, this, &BatchPage::hovered);
}

void BatchPage::setSurface(const std::shared_ptr<const BatchSurface>& surface)
{
    m_map->setSurface(surface);
    if (!surface) {
        m_work->setSentence({}, WorkRow::Outcome::None);
        return;
    }
    const auto& cells = surface->cells;
    const auto best = std::max_element(cells.begin(), cells.end(),
                                       [](const BatchCell& a, const BatchCell& b) { return a.samplesPerSecond < b.samplesPerSecond; });
    if (best == cells.end() || !best->fits)
        m_work->setSentence(tr("Nothing fits %1 at any batch; move the budget line up.").arg(bytesText(surface->budget)),
                            WorkRow::Outcome::Bad);
    else
        m_work->setSentence(tr("Best at %1: batch %2, %3 micro-steps, %4 samples/s. A click on a cell goes there.")
                                .arg(bytesText(surface->budget))
                                .arg(best->batch)
                                .arg(best->accumulation)
                                .arg(rateText(best->samplesPerSecond)),
                            WorkRow::Outcome::Good);
}

} // namespace loadline
