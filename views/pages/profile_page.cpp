// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/profile_page.hpp"

#include "views/charts/bar_rows.hpp"
#include "views/format/text.hpp"
#include "views/pages/page_parts.hpp"
#include "views/palette.hpp"
#include "views/panels/title_row.hpp"
#include "views/panels/work_row.hpp"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <set>

namespace loadline {
namespace {

/// Median of measured over estimated, 1 if nothing is known.
double medianRatio(std::vector<double> ratios)
{
    if (ratios.empty())
        return 1;
    const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    return *middle;
}

} // namespace

ProfilePage::ProfilePage(QWidget* parent)
    : QWidget(parent), m_work(new WorkRow(tr("Profile"), tr("Profile this machine"), this)),
      m_save(m_work->addVerb(tr("Save\u2026"), tr("Write the profile as a file"))),
      m_use(m_work->addVerb(tr("Use for the plan"), tr("Plan with the measured times; can be undone"))),
      m_open(m_work->addVerb(tr("Use a stored profile\u2026"), tr("Plan with a profile that was measured before, here or elsewhere"))),
      m_device(new QComboBox(this)), m_ranks(new QSpinBox(this)), m_batches(new QLineEdit(QStringLiteral("1, 2, 4"), this)),
      m_sequence(new QSpinBox(this)), m_seconds(new QSpinBox(this)), m_shown(new QComboBox(this)),
      m_title(new TitleRow(tr("Operators"), tr("forward and backward of one micro-step"), this)), m_bars(new BarRows(this)),
      m_provenance(new QLabel(this))
{
    auto* column = panelColumn(this);
    m_open->setEnabled(true);
    m_device->addItem(QStringLiteral("cpu"));
    m_ranks->setRange(1, 64);
    m_ranks->setValue(4);
    m_sequence->setRange(1, 1 << 20);
    m_sequence->setValue(128);
    m_seconds->setRange(1, 86'400);
    m_seconds->setValue(60);
    m_seconds->setSuffix(tr(" s"));
    m_batches->setMaximumWidth(110);
    m_work->addField(tr("Device"), m_device);
    m_work->addField(tr("Processes at once"), m_ranks);
    m_work->addField(tr("Batches"), m_batches);
    m_work->addField(tr("Sequence"), m_sequence);
    m_work->addField(tr("At most"), m_seconds);
    m_work->addField(tr("Show batch"), m_shown);
    m_title->setLegend({{tr("forward"), [](const Palette& colors) { return colors.compute; }},
                        {tr("backward"), [](const Palette& colors) { return colors.hidden; }}});
    m_bars->setAccessibleName(tr("Times of the operators"));
    m_bars->setEmptyWords(tr("Open a model to see its operators."));
    m_provenance->setObjectName(QStringLiteral("soft"));
    m_provenance->setContentsMargins(12, 6, 16, 8);
    m_provenance->setWordWrap(true);
    column->addWidget(m_work);
    column->addWidget(m_title);
    column->addWidget(scrolled(m_bars, this), 1);
    column->addWidget(m_provenance);
    connect(m_bars, &BarRows::hovered, this, &ProfilePage::hovered);
    connect(m_shown, &QComboBox::currentIndexChanged, this, [this] { refill(); });
    offerBatches();
}

void ProfilePage::setSubjects(std::vector<ProfileSubject> subjects)
{
    m_subjects = std::move(subjects);
    refill();
}

void ProfilePage::begin()
{
    m_rows.clear();
    offerBatches();
    refill();
}

void ProfilePage::addRow(const OperatorRow& row)
{
    if (row.slices != 1)
        return; // the same operator in pieces: counted in the words, not a bar of its own
    m_rows[{row.key, row.batch}] = row;
    offerBatches();
    refill();
}

void ProfilePage::setProfile(const Profile& profile)
{
    m_rows.clear();
    for (const OperatorRow& row : profile.operators()) {
        if (row.slices == 1)
            m_rows[{row.key, row.batch}] = row;
    }
    offerBatches();
    refill();
    setProvenance(text(profile.provenance()));
}

void ProfilePage::setProvenance(const QString& words)
{
    m_provenance->setText(words);
}

void ProfilePage::setDevices(const QStringList& kinds)
{
    const QString chosen = m_device->currentText();
    m_device->clear();
    m_device->addItems(kinds);
    m_device->setCurrentIndex(std::max(m_device->findText(chosen), 0));
}

void ProfilePage::offerBatches()
{
    std::set<std::int64_t> sizes;
    for (const auto& [at, row] : m_rows)
        sizes.insert(at.second);
    if (sizes.empty()) {
        for (const std::int64_t batch : batches())
            sizes.insert(batch);
    }
    QStringList words;
    for (const std::int64_t size : sizes)
        words << QString::number(size);
    QStringList now;
    for (int i = 0; i < m_shown->count(); ++i)
        now << m_shown->itemText(i);
    if (words == now)
        return;
    const QSignalBlocker block(m_shown);
    const QString chosen = m_shown->currentText();
    m_shown->clear();
    m_shown->addItems(words);
    m_shown->setCurrentIndex(std::max(m_shown->findText(chosen), 0));
}

void ProfilePage::refill()
{
    const std::int64_t batch = std::max<std::int64_t>(m_shown->currentText().toLongLong(), 1);
    std::vector<double> ratios;
    for (const ProfileSubject& subject : m_subjects) {
        const auto found = m_rows.find({subject.key, batch});
        const double estimate = subject.forward.value() + subject.backward.value();
        if (found != m_rows.end() && !found->second.outOfMemory && estimate > 0)
            ratios.push_back((found->second.forward.value() + found->second.backward.value()) / estimate);
    }
    const bool scaled = !ratios.empty();
    const double ratio = medianRatio(std::move(ratios));
    std::vector<BarRow> bars;
    std::size_t known = 0;
    for (const ProfileSubject& subject : m_subjects) {
        const auto found = m_rows.find({subject.key, batch});
        BarRow bar;
        bar.name = subject.name;
        if (found == m_rows.end()) {
            bar.first = subject.forward.value() * ratio;
            bar.second = subject.backward.value() * ratio;
            bar.estimated = true;
            bar.value = tr("%1 estimated").arg(secondsText(Seconds(bar.first + bar.second)));
            bar.help = scaled ? tr("%1 \u00b7 estimated: the described device's figure, scaled by the median of what is measured so far")
                                    .arg(subject.name)
                              : tr("%1 \u00b7 estimated for the described device; nothing is measured yet").arg(subject.name);
        } else if (found->second.outOfMemory) {
            bar.value = tr("out of memory at batch %1").arg(batch);
            bar.mood = -1;
            bar.help = tr("%1 \u00b7 does not fit at batch %2: a result, not an error").arg(subject.name).arg(batch);
            ++known;
        } else {
            const OperatorRow& row = found->second;
            bar.first = row.forward.value();
            bar.second = row.backward.value();
            bar.value = tr("%1 + %2").arg(secondsText(row.forward), secondsText(row.backward));
            bar.help = tr("%1 \u00b7 forward %2 (spread %3) \u00b7 backward %4 (spread %5) \u00b7 saved %6 \u00b7 workspace %7")
                           .arg(subject.name, secondsText(row.forward), secondsText(row.forwardSpread), secondsText(row.backward),
                                secondsText(row.backwardSpread), bytesText(row.saved), bytesText(row.workspace));
            ++known;
        }
        bars.push_back(std::move(bar));
    }
    m_title->setNote(m_subjects.empty() ? QString() : tr("%1 of %2 measured").arg(known).arg(m_subjects.size()));
    m_bars->setRows(std::move(bars));
}

std::size_t ProfilePage::measured() const
{
    return m_rows.size();
}

QString ProfilePage::device() const
{
    return m_device->currentText();
}

int ProfilePage::ranks() const
{
    return m_ranks->value();
}

std::vector<std::int64_t> ProfilePage::batches() const
{
    std::vector<std::int64_t> sizes;
    for (const QString& part : m_batches->text().split(QLatin1Char(','))) {
        bool ok = false;
        const qint64 size = part.trimmed().toLongLong(&ok);
        if (!ok || size < 1 || size > 65'536)
            return {};
        sizes.push_back(size);
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

std::int64_t ProfilePage::sequence() const
{
    return m_sequence->value();
}

int ProfilePage::seconds() const
{
    return m_seconds->value();
}

void ProfilePage::setSequence(std::int64_t sequence)
{
    m_sequence->setValue(static_cast<int>(std::min<std::int64_t>(sequence, m_sequence->maximum())));
}

void ProfilePage::setRanks(int ranks)
{
    m_ranks->setValue(ranks);
}

} // namespace loadline
