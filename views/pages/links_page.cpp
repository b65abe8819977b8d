// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/links_page.hpp"

#include "views/charts/line_chart.hpp"
#include "views/format/text.hpp"
#include "views/pages/page_parts.hpp"
#include "views/palette.hpp"
#include "views/panels/title_row.hpp"
#include "views/panels/work_row.hpp"

#include <QComboBox>
#include <QHeaderView>
#include <QSpinBox>
#include <QSplitter>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <map>

namespace loadline {
namespace {

constexpr int kFitPoints = 80; ///< of the drawn line

QString collectiveText(Collective collective)
{
    switch (collective) {
    case Collective::AllGather:
        return LinksPage::tr("all-gather");
    case Collective::ReduceScatter:
        return LinksPage::tr("reduce-scatter");
    case Collective::AllReduce:
        break;
    }
    return LinksPage::tr("all-reduce");
}

QColor collectiveColor(Collective collective, const Palette& colors)
{
    return collective == Collective::AllGather       ? colors.category[0]
           : collective == Collective::ReduceScatter ? colors.split
                                                     : colors.exposed;
}

QString groupText(std::int64_t group, std::int64_t perNode)
{
    return perNode == group ? LinksPage::tr("%1 ranks of one node").arg(group)
                            : LinksPage::tr("%1 ranks, %2 in each node").arg(group).arg(perNode);
}

QString bandwidthText(double bytesPerSecond)
{
    return LinksPage::tr("%1 GB/s").arg(bytesPerSecond / 1e9, 0, 'g', 3);
}

using Curves = std::map<Collective, std::vector<LinkPoint>>;

/// Monotone curves of one kind of group, as planning looks them up.
Curves curvesOf(const std::vector<LinkRow>& rows, std::int64_t group, std::int64_t perNode)
{
    const Profile profile({}, {}, rows);
    Curves curves;
    for (const Collective collective : {Collective::AllGather, Collective::ReduceScatter, Collective::AllReduce}) {
        auto curve = profile.linkCurve(collective, group, perNode);
        std::erase_if(curve, [](const LinkPoint& point) { return point.bytes.count() <= 0 || point.seconds.value() <= 0; });
        if (!curve.empty())
            curves[collective] = std::move(curve);
    }
    return curves;
}

} // namespace

LinksPage::LinksPage(QWidget* parent)
    : QWidget(parent), m_work(new WorkRow(tr("Links"), tr("Measure the links"), this)), m_device(new QComboBox(this)),
      m_ranks(new QSpinBox(this)), m_seconds(new QSpinBox(this)), m_group(new QComboBox(this)),
      m_title(new TitleRow(tr("Time of a collective over its size"), tr("dots measured, line fitted"), this)),
      m_curves(new LineChart(LineChart::Scale::LogBytes, LineChart::Scale::LogSeconds, tr("Time of a collective over its size"), this)),
      m_missTitle(new TitleRow(tr("What the fit misses"), tr("measured against fitted"), this)),
      m_residuals(new LineChart(LineChart::Scale::LogBytes, LineChart::Scale::Share, tr("What the fit misses"), this)),
      m_table(plainTable({tr("COLLECTIVE"), tr("SIZES"), tr("LATENCY"), tr("BANDWIDTH"), tr("WORST MISS"), tr("BUS BANDWIDTH")},
                         tr("Fits by collective and regime"), this))
{
    auto* column = panelColumn(this);
    m_device->addItem(QStringLiteral("cpu"));
    m_ranks->setRange(2, 64);
    m_ranks->setValue(4);
    m_seconds->setRange(1, 86'400);
    m_seconds->setValue(30);
    m_seconds->setSuffix(tr(" s"));
    m_group->setMinimumContentsLength(18);
    m_work->addField(tr("Device"), m_device);
    m_work->addField(tr("Processes"), m_ranks);
    m_work->addField(tr("At most"), m_seconds);
    m_work->addField(tr("Show group"), m_group);
    for (TitleRow* title : {m_title, m_missTitle}) {
        std::vector<TitleRow::Item> legend;
        for (const Collective collective : {Collective::AllGather, Collective::ReduceScatter, Collective::AllReduce})
            legend.push_back(
                {collectiveText(collective), [collective](const Palette& colors) { return collectiveColor(collective, colors); }});
        if (title == m_title)
            title->setLegend(std::move(legend));
    }
    m_curves->setColumns(tr("bytes"), tr("seconds"));
    m_residuals->setColumns(tr("bytes"), tr("measured / fitted - 1"));
    auto* charts = new QWidget(this);
    auto* left = panelColumn(charts);
    left->addWidget(m_title);
    left->addWidget(m_curves, 3);
    left->addWidget(m_missTitle);
    left->addWidget(m_residuals, 1);
    auto* tableSide = new QWidget(this);
    auto* right = panelColumn(tableSide);
    right->addWidget(new TitleRow(tr("Fits"), tr("seconds = latency + bytes / bandwidth"), this));
    right->addWidget(m_table, 1);
    auto* across = new QSplitter(Qt::Horizontal, this);
    across->addWidget(charts);
    across->addWidget(tableSide);
    across->setStretchFactor(0, 1);
    across->setSizes({820, 600});
    thinHandles(across);
    const int widths[] = {110, 140, 80, 90, 90};
    for (int i = 0; i < 5; ++i)
        m_table->header()->resizeSection(i, widths[i]);
    column->addWidget(m_work);
    column->addWidget(across, 1);
    for (LineChart* chart : {m_curves, m_residuals})
        connect(chart, &Chart::hovered, this, &LinksPage::hovered);
    connect(m_group, &QComboBox::currentIndexChanged, this, [this] { refill(); });
}

void LinksPage::begin()
{
    m_rows.clear();
    offerGroups();
    refill();
}

void LinksPage::addRow(const LinkRow& row)
{
    m_rows.push_back(row);
    offerGroups();
    refill();
}

void LinksPage::setProfile(const Profile& profile)
{
    m_rows = profile.links();
    offerGroups();
    refill();
}

void LinksPage::setDevices(const QStringList& kinds)
{
    const QString chosen = m_device->currentText();
    m_device->clear();
    m_device->addItems(kinds);
    m_device->setCurrentIndex(std::max(m_device->findText(chosen), 0));
}

void LinksPage::offerGroups()
{
    std::map<std::pair<std::int64_t, std::int64_t>, int> groups;
    for (const LinkRow& row : m_rows)
        ++groups[{row.group, row.perNode}];
    if (static_cast<int>(groups.size()) == m_group->count())
        return;
    const QSignalBlocker block(m_group);
    const QString chosen = m_group->currentText();
    m_group->clear();
    for (const auto& [group, count] : groups)
        m_group->addItem(groupText(group.first, group.second), QList<QVariant>{qint64(group.first), qint64(group.second)});
    m_group->setCurrentIndex(std::max(m_group->findText(chosen), 0));
}

void LinksPage::refill()
{
    std::vector<LineSeries> lines;
    std::vector<LineSeries> misses;
    m_table->clear();
    const QList<QVariant> shown = m_group->currentData().toList();
    if (shown.size() == 2) {
        const std::int64_t group = shown[0].toLongLong();
        for (const auto& [collective, points] : curvesOf(m_rows, group, shown[1].toLongLong())) {
            const auto color = [which = collective](const Palette& colors) { return collectiveColor(which, colors); };
            const LinkFit fit = fitLink(points);
            LineSeries dots{collectiveText(collective), {}, LineSeries::Style::Dots, color};
            LineSeries line{tr("%1, fitted").arg(collectiveText(collective)), {}, LineSeries::Style::Line, color};
            LineSeries miss{collectiveText(collective), {}, LineSeries::Style::Dots, color};
            for (std::size_t i = 0; i < points.size(); ++i) {
                const auto bytes = static_cast<double>(points[i].bytes.count());
                dots.points.emplace_back(bytes, points[i].seconds.value());
                miss.points.emplace_back(bytes, fit.residuals[i]);
            }
            const auto least = static_cast<double>(points.front().bytes.count());
            const auto most = static_cast<double>(points.back().bytes.count());
            for (int i = 0; i <= kFitPoints; ++i) {
                const double bytes = least * std::pow(most / least, double(i) / kFitPoints);
                line.points.emplace_back(bytes, fit.at(Bytes(static_cast<std::int64_t>(bytes))).value());
            }
            lines.push_back(std::move(line));
            lines.push_back(std::move(dots));
            misses.push_back(std::move(miss));
            for (const LinkRegime& regime : fit.regimes) {
                const bool first = &regime == &fit.regimes.front();
                const bool last = &regime == &fit.regimes.back();
                new QTreeWidgetItem(
                    m_table, {first ? collectiveText(collective) : QString(),
                              tr("%1 to %2").arg(bytesText(regime.from), bytesText(regime.to)), secondsText(regime.latency),
                              regime.secondsPerByte > 0 ? bandwidthText(1 / regime.secondsPerByte) : tr("no limit seen"),
                              first ? percentText(fit.worst) : QString(),
                              last ? tr("%1 at %2")
                                         .arg(bandwidthText(busBandwidth(collective, group, points.back().bytes, points.back().seconds)),
                                              bytesText(points.back().bytes))
                                   : QString()});
            }
        }
    }
    m_missTitle->setNote(m_rows.empty() ? tr("nothing is measured yet") : QString());
    m_curves->setSeries(std::move(lines));
    m_residuals->setSeries(std::move(misses));
}

QString LinksPage::device() const
{
    return m_device->currentText();
}

int LinksPage::ranks() const
{
    return m_ranks->value();
}

int LinksPage::seconds() const
{
    return m_seconds->value();
}

void LinksPage::setRanks(int ranks)
{
    m_ranks->setValue(ranks);
}

} // namespace loadline
