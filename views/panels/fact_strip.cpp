// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/fact_strip.hpp"

#include "views/format/text.hpp"
#include "views/palette.hpp"

#include <QHelpEvent>
#include <QLocale>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace loadline {
namespace {

constexpr int kHeight = 62;
constexpr int kLeft = 16;
constexpr int kChipRoom = 400; ///< pixels for both chips
constexpr int kChipHeight = 32;

QString againstText(double share, int& mood)
{
    mood = share < -0.0005 ? 1 : share > 0.0005 ? -1 : 0;
    return FactStrip::tr("%1 against pinned").arg(signedPercentText(share));
}

} // namespace

FactStrip::FactStrip(QWidget* parent) : QWidget(parent)
{
    setFixedHeight(kHeight);
    setAccessibleName(tr("Facts of the plan"));
    m_figures[StepTime] = {
        tr("STEP TIME"), {}, {}, 0, tr("Sum of compute and communication of one optimizer step: what the search makes least.")};
    m_figures[Peak] = {
        tr("PEAK MEMORY"), {}, {}, 0, tr("Highest memory of one GPU over the step, overhead included: what the budget limits.")};
    m_figures[Throughput] = {tr("THROUGHPUT"), {}, {}, 0, tr("Tokens and sequences of the whole job per second of step time.")};
    m_figures[Exposed] = {
        tr("EXPOSED COMMUNICATION"), {}, {}, 0, tr("Communication that compute does not hide when both streams run at once (simulated).")};
    m_figures[ShadowPrice] = {tr("ONE MORE GiB BUYS"), {}, {}, 0, tr("Step time saved by one more GiB of budget at this point.")};
}

QSize FactStrip::sizeHint() const
{
    return {900, kHeight};
}

void FactStrip::setPicture(const PlanPicturePtr& picture, const PlanPicturePtr& reference)
{
    m_pale = true;
    m_proof = Proof::None;
    m_proofWords.clear();
    if (picture && picture->outcome) {
        const PlanOutcome& outcome = *picture->outcome;
        if (outcome.plan) {
            m_pale = false;
            fill(*outcome.plan, outcome, reference);
        }
        if (outcome.status == SearchStatus::Optimal) {
            m_proof = Proof::Optimal;
            m_proofWords = tr("Proven optimal");
        } else if (outcome.status == SearchStatus::WithinGap) {
            m_proof = Proof::WithinGap;
            m_proofWords = outcome.gap < 0.0005
                               ? tr("Within 0.05 % of optimal")
                               : tr("Within %1 of optimal").arg(QLocale::c().toString(outcome.gap * 100, 'f', 2) + QStringLiteral(" %"));
        } else {
            m_proof = Proof::Infeasible;
            m_proofWords = tr("Not feasible");
        }
    }
    update();
}

void FactStrip::fill(const Plan& plan, const PlanOutcome& outcome, const PlanPicturePtr& reference)
{
    const Setup& setup = plan.table.setup;
    Figure& step = m_figures[StepTime];
    step.value = secondsText(plan.objective);
    step.note = tr("overlapped %1").arg(secondsText(plan.time.overlapped));
    step.mood = 0;
    if (reference && reference->plan() && reference->plan() != &plan && reference->plan()->objective.value() > 0)
        step.note = againstText(plan.objective.value() / reference->plan()->objective.value() - 1, step.mood);
    Figure& peak = m_figures[Peak];
    peak.value = bytesText(plan.peak);
    peak.note = tr("of %1 budget, %2 free").arg(gibText(outcome.budget), gibText(outcome.budget - plan.peak));
    Figure& throughput = m_figures[Throughput];
    throughput.value = tr("%1 tok/s").arg(rateText(plan.tokensPerSecond()));
    throughput.note = tr("%1 samples/s, batch %2").arg(rateText(plan.samplesPerSecond())).arg(setup.batch);
    if (setup.accumulation > 1)
        throughput.note += tr(" x %1").arg(setup.accumulation);
    Figure& exposed = m_figures[Exposed];
    exposed.value = secondsText(plan.time.exposed);
    exposed.note = tr("%1 of the overlapped step")
                       .arg(percentText(plan.time.overlapped.value() > 0 ? plan.time.exposed.value() / plan.time.overlapped.value() : 0));
    Figure& price = m_figures[ShadowPrice];
    price.value = outcome.secondsPerGib > 0 ? secondsText(Seconds(outcome.secondsPerGib)) : tr("nothing");
    price.note = outcome.secondsPerGib > 0 ? tr("of step time, at this budget") : tr("this plan is the fastest there is");
    const bool estimated = std::any_of(plan.table.units.begin(), plan.table.units.end(), [](const Unit& unit) { return unit.estimated; });
    m_estimate = estimated ? tr("Compute and links estimated") : tr("Compute measured, links estimated");
    QStringList spoken;
    for (const Figure& figure : m_figures)
        spoken << figure.caption + QLatin1Char(' ') + figure.value + QLatin1Char(' ') + figure.note;
    setAccessibleDescription(spoken.join(QStringLiteral(". ")));
}

void FactStrip::setSearching(bool searching)
{
    if (searching == m_searching)
        return;
    m_searching = searching;
    update();
}

QString FactStrip::proofText() const
{
    return m_searching ? tr("Searching") : m_proofWords;
}

int FactStrip::columnWidth() const
{
    return std::clamp((width() - kLeft - kChipRoom) / kFacts, 120, 212);
}

void FactStrip::paintEvent(QPaintEvent*)
{
    const Palette& colors = currentPalette();
    QPainter painter(this);
    painter.fillRect(rect(), colors.panel);
    QColor text = colors.text;
    if (m_pale)
        text.setAlphaF(0.4F);
    const int column = columnWidth();
    for (std::size_t i = 0; i < m_figures.size(); ++i) {
        const Figure& figure = m_figures[i];
        const int x = kLeft + static_cast<int>(i) * column;
        const auto put = [&](int y, const QString& words, const QFont& font, const QColor& color) {
            painter.setFont(font);
            painter.setPen(color);
            painter.drawText(x, y, QFontMetrics(font).elidedText(words, Qt::ElideRight, column - 8));
        };
        put(17, figure.caption, fontOf(9, true), colors.softText);
        put(38, figure.value, fontOf(18, true), text);
        put(54, figure.note, fontOf(10.5), m_pale || figure.mood == 0 ? colors.softText : figure.mood > 0 ? colors.better : colors.worse);
    }
    int right = width() - 16;
    if (!m_estimate.isEmpty())
        right = paintChip(painter, right, m_estimate, colors.softText, false) - 12;
    const QString proof = proofText();
    if (proof.isEmpty())
        return;
    const QColor color = m_searching ? colors.accent : m_proof == Proof::Infeasible ? colors.worse : colors.better;
    paintChip(painter, right, proof, color, true);
}

int FactStrip::paintChip(QPainter& painter, int right, const QString& words, const QColor& color, bool dot) const
{
    const Palette& colors = currentPalette();
    const QFont font = fontOf(dot ? 12 : 11, dot);
    const int width = QFontMetrics(font).horizontalAdvance(words) + (dot ? 42 : 28);
    const int top = (height() - kChipHeight) / 2; // a whole pixel, so that the line stays sharp
    const QRectF chip(right - width + 0.5, top + 0.5, width - 1, kChipHeight - 1);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(dot ? color : colors.line, dot ? 1.4 : 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(chip, 16, 16);
    painter.setFont(font);
    if (dot) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        painter.drawEllipse(QPointF(chip.left() + 17, chip.center().y()), 4, 4);
    }
    painter.setPen(color);
    painter.drawText(chip.adjusted(dot ? 28 : 14, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, words);
    return right - width;
}

bool FactStrip::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        const int fact = (help->pos().x() - kLeft) / columnWidth();
        if (fact >= 0 && fact < kFacts)
            QToolTip::showText(help->globalPos(), m_figures[static_cast<std::size_t>(fact)].help, this);
        else
            QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

} // namespace loadline
