// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/run_page.hpp"

#include "views/charts/bar_rows.hpp"
#include "views/charts/line_chart.hpp"
#include "views/charts/measured_memory_chart.hpp"
#include "views/format/text.hpp"
#include "views/pages/page_parts.hpp"
#include "views/pages/runs_table.hpp"
#include "views/palette.hpp"
#include "views/panels/title_row.hpp"
#include "views/panels/work_row.hpp"

#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QSpinBox>
#include <QSplitter>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace loadline {
namespace {

constexpr int kLogLines = 400;
constexpr double kWorthSaying = 0.05; ///< of an operator's predicted time

QString stateText(RankState state)
{
    switch (state) {
    case RankState::Starting:
        return RunPage::tr("starting");
    case RankState::Ready:
        return RunPage::tr("running");
    case RankState::Done:
        return RunPage::tr("done");
    case RankState::Died:
        break;
    }
    return RunPage::tr("died");
}

QString outcomeText(RunOutcome outcome)
{
    switch (outcome) {
    case RunOutcome::Done:
        return RunPage::tr("Done");
    case RunOutcome::OutOfMemory:
        return RunPage::tr("Out of memory");
    case RunOutcome::RankDied:
        return RunPage::tr("A rank died");
    case RunOutcome::TimedOut:
        return RunPage::tr("Timed out");
    case RunOutcome::Cancelled:
        return RunPage::tr("Cancelled");
    case RunOutcome::Failed:
        break;
    }
    return RunPage::tr("Failed");
}

QString sizedText(VerdictTerm::Kind kind, double value)
{
    return kind == VerdictTerm::Kind::Time ? secondsText(Seconds(value)) : bytesText(Bytes(static_cast<std::int64_t>(value)));
}

} // namespace

RunPage::RunPage(QWidget* parent)
    : QWidget(parent), m_work(new WorkRow(tr("Verification run"), tr("Run the plan"), this)),
      m_calibrate(m_work->addVerb(tr("Calibrate from this run"), tr("Plan with the times that this run measured; can be undone"))),
      m_thisMachine(m_work->addVerb(tr("Plan for this machine"), tr("Take this machine's own processors as cluster; can be undone"))),
      m_device(new QComboBox(this)), m_steps(new QSpinBox(this)), m_seed(new QSpinBox(this)), m_data(new QLineEdit(this))
{
    m_steps->setRange(1, 100'000);
    m_steps->setValue(20);
    m_seed->setRange(0, 1'000'000);
    m_seed->setValue(1);
    m_data->setPlaceholderText(tr("random tokens, or a file"));
    m_data->setMinimumWidth(180);
    m_device->addItem(QStringLiteral("cpu"));
    m_work->addField(tr("Device"), m_device);
    m_work->addField(tr("Steps"), m_steps);
    m_work->addField(tr("Seed"), m_seed);
    m_work->addField(tr("Data"), m_data);
    auto* column = panelColumn(this);
    auto* across = new QSplitter(Qt::Horizontal, this);
    across->addWidget(makeLeft());
    across->addWidget(makeRight());
    across->setStretchFactor(1, 1);
    across->setSizes({520, 900});
    thinHandles(across);
    m_runs = new RunsTable(this);
    auto* down = new QSplitter(Qt::Vertical, this);
    down->addWidget(across);
    down->addWidget(m_runs);
    down->setStretchFactor(0, 1);
    down->setSizes({620, 160});
    thinHandles(down);
    column->addWidget(m_work);
    column->addWidget(down, 1);
    for (BarRows* bars : {m_rankBars, m_unitBars})
        connect(bars, &BarRows::hovered, this, &RunPage::hovered);
    connect(m_losses, &Chart::hovered, this, &RunPage::hovered);
    connect(m_memory, &Chart::hovered, this, &RunPage::hovered);
    connect(m_memory, &MeasuredMemoryChart::unitChanged, m_memoryTitle,
            [this](const QString& unit) { m_memoryTitle->setUnit(tr("%1, dotted: predicted").arg(unit)); });
}

QWidget* RunPage::makeLeft()
{
    auto* side = new QWidget(this);
    auto* column = panelColumn(side);
    m_rankTitle = new TitleRow(tr("Ranks"), tr("peak memory of each, mark: predicted"), side);
    m_rankBars = new BarRows(side);
    m_rankBars->setAccessibleName(tr("Ranks"));
    m_rankBars->setColors([](const Palette& colors) { return colors.category[0]; }, [](const Palette& colors) { return colors.hidden; });
    m_rankBars->setEmptyWords(tr("Nothing has run yet. A run trains this very plan here, with one process a rank, and lays what it "
                                 "measures beside what was predicted."));
    m_losses = new LineChart(LineChart::Scale::Count, LineChart::Scale::Plain, tr("Loss by step"), side);
    m_losses->setColumns(tr("step"), tr("loss"));
    auto* lossTitle = new TitleRow(tr("Loss"), tr("by step"), side);
    lossTitle->setLegend({{tr("this run"), [](const Palette& colors) { return colors.accent; }},
                          {tr("one process, unsharded"), [](const Palette& colors) { return colors.softText; }}});
    m_log = new QPlainTextEdit(side);
    m_log->setReadOnly(true);
    m_log->setFrameShape(QFrame::NoFrame);
    m_log->setMaximumBlockCount(kLogLines);
    m_log->setAccessibleName(tr("Log of the run"));
    column->addWidget(m_rankTitle);
    column->addWidget(scrolled(m_rankBars, side), 2);
    column->addWidget(lossTitle);
    column->addWidget(m_losses, 3);
    column->addWidget(new TitleRow(tr("Log"), tr("the end of it"), side));
    column->addWidget(m_log, 2);
    return side;
}

QWidget* RunPage::makeRight()
{
    auto* side = new QWidget(this);
    auto* column = panelColumn(side);
    m_verdict = new QLabel(side);
    m_verdict->setTextFormat(Qt::RichText);
    m_verdict->setContentsMargins(12, 10, 16, 8);
    m_verdict->setWordWrap(true);
    m_verdict->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_verdict->hide();
    m_memoryTitle = new TitleRow(tr("Memory over one step"), tr("measured, dotted: predicted"), side);
    std::vector<TitleRow::Item> legend;
    for (std::size_t i = 0; i < kMemoryCategories; ++i)
        legend.push_back({categoryText(static_cast<MemoryCategory>(i)), [i](const Palette& colors) { return colors.category[i]; }});
    m_memoryTitle->setLegend(std::move(legend));
    m_memory = new MeasuredMemoryChart(side);
    m_unitTitle = new TitleRow(tr("Operators"), tr("forward and backward measured, mark: predicted"), side);
    m_unitBars = new BarRows(side);
    m_unitBars->setAccessibleName(tr("Operators, predicted against measured"));
    m_unitBars->setEmptyWords(tr("Shown when a run has ended."));
    m_terms = plainTable({tr("TERM"), tr("PREDICTED"), tr("MEASURED"), tr("OF THE TOTAL"), tr("BOOKED TO")},
                         tr("Terms of step time and memory, predicted against measured"), side);
    const int widths[] = {160, 85, 85, 95};
    for (int i = 0; i < 4; ++i)
        m_terms->header()->resizeSection(i, widths[i]);
    column->addWidget(m_verdict);
    column->addWidget(m_memoryTitle);
    column->addWidget(m_memory, 4);
    auto* below = new QSplitter(Qt::Horizontal, side);
    auto* unitSide = new QWidget(below);
    auto* units = panelColumn(unitSide);
    units->addWidget(m_unitTitle);
    units->addWidget(scrolled(m_unitBars, unitSide), 1);
    auto* termSide = new QWidget(below);
    auto* terms = panelColumn(termSide);
    terms->addWidget(new TitleRow(tr("Where the difference comes from"), {}, termSide));
    terms->addWidget(m_terms, 1);
    below->addWidget(unitSide);
    below->addWidget(termSide);
    below->setSizes({420, 480});
    thinHandles(below);
    column->addWidget(below, 4);
    return side;
}

void RunPage::begin(std::int64_t ranks, std::int64_t steps, Bytes peak)
{
    m_ranks.assign(static_cast<std::size_t>(std::clamp<std::int64_t>(ranks, 0, 4096)), Rank{});
    m_lossByStep.clear();
    m_unsharded.clear();
    m_meanLosses.clear();
    m_stepsAsked = steps;
    m_peak = peak;
    m_log->clear();
    m_losses->setXEnd(static_cast<double>(steps));
    showRanks();
    showLosses();
    setComparison(nullptr);
}

void RunPage::take(const WorkerEvent& event)
{
    if (const auto* step = std::get_if<WorkerStep>(&event)) {
        takeStep(*step);
    } else if (const auto* rank = std::get_if<WorkerRank>(&event)) {
        if (rank->rank < 0 || static_cast<std::size_t>(rank->rank) >= m_ranks.size())
            return;
        Rank& known = m_ranks[static_cast<std::size_t>(rank->rank)];
        known.state = rank->state;
        known.why = text(rank->why);
        showRanks();
    } else if (const auto* progress = std::get_if<WorkerProgress>(&event)) {
        const double share = progress->total > 0 ? static_cast<double>(progress->done) / static_cast<double>(progress->total) : 0;
        m_work->setProgress(share, tr("%1 of %2 \u00b7 %3").arg(progress->done).arg(progress->total).arg(text(progress->what)),
                            progress->left ? std::optional(progress->left->value()) : std::nullopt);
    } else if (const auto* result = std::get_if<WorkerResult>(&event)) {
        takeResult(*result);
    }
}

void RunPage::takeStep(const WorkerStep& step)
{
    if (step.rank < 0 || static_cast<std::size_t>(step.rank) >= m_ranks.size() || step.step < 1 || step.step > m_stepsAsked)
        return; // not of this run
    Rank& rank = m_ranks[static_cast<std::size_t>(step.rank)];
    rank.state = rank.state == RankState::Starting ? RankState::Ready : rank.state;
    rank.step = step.step;
    rank.peak = std::max(rank.peak, step.peak);
    const auto index = static_cast<std::size_t>(step.step - 1);
    if (m_lossByStep.size() <= index)
        m_lossByStep.resize(index + 1);
    m_lossByStep[index].push_back(step.loss);
    std::int64_t least = m_stepsAsked;
    for (const Rank& one : m_ranks)
        least = std::min(least, one.step);
    m_work->setProgress(static_cast<double>(least) / static_cast<double>(std::max<std::int64_t>(m_stepsAsked, 1)),
                        tr("step %1 of %2 \u00b7 %3 a step").arg(least).arg(m_stepsAsked).arg(secondsText(step.seconds)),
                        step.seconds.value() * static_cast<double>(m_stepsAsked - least));
    showRanks();
    showLosses();
}

void RunPage::takeResult(const WorkerResult& result)
{
    m_meanLosses = result.losses;
    m_unsharded = result.unshardedLosses;
    showLosses();
    const QString words = outcomeText(result.outcome);
    m_work->setSentence(result.why.empty() ? words : tr("%1: %2").arg(words, text(result.why)),
                        result.outcome == RunOutcome::Done        ? WorkRow::Outcome::Good
                        : result.outcome == RunOutcome::Cancelled ? WorkRow::Outcome::Neutral
                                                                  : WorkRow::Outcome::Bad);
}

void RunPage::showStored(std::int64_t ranks, Bytes peak, const std::vector<WorkerStep>& last, const WorkerResult& result)
{
    begin(ranks, static_cast<std::int64_t>(result.losses.size()), peak);
    for (const WorkerStep& step : last) {
        if (step.rank < 0 || static_cast<std::size_t>(step.rank) >= m_ranks.size())
            continue;
        m_ranks[static_cast<std::size_t>(step.rank)] = {
            result.outcome == RunOutcome::Done ? RankState::Done : RankState::Ready, step.step, step.peak, {}};
    }
    showRanks();
    takeResult(result);
}

void RunPage::addWords(const QString& line)
{
    m_log->appendPlainText(line);
}

void RunPage::showRanks()
{
    std::vector<BarRow> bars;
    for (std::size_t i = 0; i < m_ranks.size(); ++i) {
        const Rank& rank = m_ranks[i];
        BarRow bar;
        bar.name = tr("rank %1").arg(i);
        bar.first = static_cast<double>(rank.peak.count());
        bar.mark = static_cast<double>(m_peak.count());
        bar.mood = rank.state == RankState::Died ? -1 : 0;
        bar.value = rank.peak > Bytes() ? tr("%1 \u00b7 %2").arg(stateText(rank.state), bytesText(rank.peak)) : stateText(rank.state);
        bar.help = tr("%1 \u00b7 %2 \u00b7 step %3 \u00b7 peak %4, predicted %5")
                       .arg(bar.name, rank.why.isEmpty() ? stateText(rank.state) : tr("died: %1").arg(rank.why))
                       .arg(rank.step)
                       .arg(bytesText(rank.peak), bytesText(m_peak));
        bars.push_back(std::move(bar));
    }
    m_rankBars->setRows(std::move(bars));
}

void RunPage::showLosses()
{
    LineSeries mean{tr("this run"), {}, LineSeries::Style::Line, [](const Palette& colors) { return colors.accent; }};
    if (!m_meanLosses.empty()) {
        for (std::size_t i = 0; i < m_meanLosses.size(); ++i)
            mean.points.emplace_back(static_cast<double>(i + 1), m_meanLosses[i]);
    } else {
        for (std::size_t i = 0; i < m_lossByStep.size(); ++i) {
            const auto& losses = m_lossByStep[i];
            if (losses.size() == m_ranks.size()) // the mean over the global batch, once every rank has told
                mean.points.emplace_back(static_cast<double>(i + 1),
                                         std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size()));
        }
    }
    LineSeries alone{tr("one process, unsharded"), {}, LineSeries::Style::Dots, [](const Palette& colors) { return colors.softText; }};
    for (std::size_t i = 0; i < m_unsharded.size(); ++i)
        alone.points.emplace_back(static_cast<double>(i + 1), m_unsharded[i]);
    m_losses->setSeries({std::move(mean), std::move(alone)});
}

void RunPage::setComparison(const std::shared_ptr<const RunComparison>& comparison)
{
    showVerdict(comparison.get());
    m_terms->clear();
    if (!comparison) {
        m_unitBars->setRows({});
        m_memory->setTimelines(nullptr, nullptr);
        setCalibratable(false);
        return;
    }
    auto measured = std::make_shared<Timeline>();
    measured->events = comparison->measured;
    measured->peak = comparison->measuredPeak;
    m_memory->setTimelines(measured->events.empty() ? nullptr : measured,
                           std::shared_ptr<const Timeline>(comparison, &comparison->predicted));
    showUnits(*comparison);
    showTerms(*comparison);
    setCalibratable(!comparison->units.empty());
}

void RunPage::setCalibratable(bool possible)
{
    m_calibrate->setEnabled(possible);
}

void RunPage::showUnits(const RunComparison& comparison)
{
    std::vector<BarRow> bars;
    for (const UnitDifference& unit : comparison.units) {
        const double predicted = unit.predictedForward.value() + unit.predictedBackward.value();
        const double measured = unit.measuredForward.value() + unit.measuredBackward.value();
        BarRow bar;
        bar.name = text(unit.name);
        bar.first = unit.measuredForward.value();
        bar.second = unit.measuredBackward.value();
        bar.mark = predicted;
        const double share = predicted > 0 ? measured / predicted - 1 : 0;
        bar.value = predicted > 0 ? signedPercentText(share) : secondsText(Seconds(measured));
        bar.mood = std::abs(share) > kWorthSaying ? (share > 0 ? -1 : 1) : 0;
        bar.help = tr("%1 \u00b7 forward %2, predicted %3 \u00b7 backward %4, predicted %5")
                       .arg(bar.name, secondsText(unit.measuredForward), secondsText(unit.predictedForward),
                            secondsText(unit.measuredBackward), secondsText(unit.predictedBackward));
        bars.push_back(std::move(bar));
    }
    m_unitBars->setRows(std::move(bars));
}

void RunPage::showTerms(const RunComparison& comparison)
{
    for (const VerdictTerm& term : comparison.terms) {
        auto* row = new QTreeWidgetItem(m_terms, {text(term.name), sizedText(term.kind, term.predicted),
                                                  sizedText(term.kind, term.measured), signedPercentText(term.share), text(term.cause)});
        for (int column = 0; column < m_terms->columnCount(); ++column)
            row->setToolTip(column, row->text(column));
    }
}

void RunPage::showVerdict(const RunComparison* comparison)
{
    m_verdictLines.clear();
    QStringList rich;
    const Palette& colors = currentPalette();
    for (const VerdictLine& line : comparison ? comparison->lines : std::vector<VerdictLine>{}) {
        // State in a sign and a word, not in colour alone.
        const QString sign = !line.holds ? QStringLiteral("\u2013") : *line.holds ? QStringLiteral("\u2713") : QStringLiteral("\u2717");
        const QColor color = !line.holds ? colors.softText : *line.holds ? colors.better : colors.worse;
        m_verdictLines << QStringLiteral("%1 %2").arg(sign, text(line.text));
        rich << QStringLiteral("<span style='color:%1'><b>%2</b></span>&nbsp; %3").arg(color.name(), sign, text(line.text).toHtmlEscaped());
    }
    m_verdict->setText(rich.join(QStringLiteral("<br>")));
    m_verdict->setVisible(!rich.isEmpty());
    m_verdict->setAccessibleName(m_verdictLines.join(QLatin1Char('\n')));
}

QStringList RunPage::verdict() const
{
    return m_verdictLines;
}

QString RunPage::log() const
{
    return m_log->toPlainText();
}

QString RunPage::device() const
{
    return m_device->currentText();
}

void RunPage::setDevices(const QStringList& kinds)
{
    const QString chosen = m_device->currentText();
    m_device->clear();
    m_device->addItems(kinds);
    m_device->setCurrentIndex(std::max(m_device->findText(chosen), 0));
}

std::int64_t RunPage::steps() const
{
    return m_steps->value();
}

std::uint64_t RunPage::seed() const
{
    return static_cast<std::uint64_t>(m_seed->value());
}

QString RunPage::data() const
{
    const QString typed = m_data->text().trimmed();
    return typed.isEmpty() ? QStringLiteral("random") : typed;
}

} // namespace loadline
