// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/work_row.hpp"

#include "views/format/text.hpp"
#include "views/palette.hpp"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace loadline {
namespace {

constexpr int kBar = 3; ///< height of the progress at the lower edge

} // namespace

WorkRow::WorkRow(const QString& title, const QString& verb, QWidget* parent)
    : QWidget(parent), m_words(verb), m_verb(new QToolButton(this)), m_title(new QLabel(title, this)), m_sentence(new QLabel(this)),
      m_left(new QLabel(this)), m_verbs(new QHBoxLayout), m_fields(new QHBoxLayout), m_fieldRow(new QWidget(this))
{
    setObjectName(QStringLiteral("workRow"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 16, 8 + kBar);
    column->setSpacing(6);
    auto* first = new QHBoxLayout;
    first->setSpacing(8);
    first->addWidget(m_title);
    first->addSpacing(8);
    first->addWidget(m_verb);
    first->addLayout(m_verbs);
    first->addSpacing(8);
    first->addWidget(m_sentence, 1);
    first->addWidget(m_left);
    column->addLayout(first);
    column->addWidget(m_fieldRow);
    m_fieldRow->setLayout(m_fields);
    m_fieldRow->hide();
    m_fields->setContentsMargins(0, 0, 0, 0);
    m_fields->setSpacing(6);
    m_fields->addStretch(1);
    m_verb->setText(verb);
    m_verb->setObjectName(QStringLiteral("verb"));
    m_sentence->setTextFormat(Qt::PlainText);
    m_sentence->setWordWrap(true);
    m_sentence->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_sentence->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    connect(m_verb, &QToolButton::clicked, this, [this] { m_working ? emit cancelAsked() : emit startAsked(); });
    restyle();
}

QToolButton* WorkRow::addVerb(const QString& words, const QString& tip)
{
    auto* button = new QToolButton(this);
    button->setText(words);
    button->setToolTip(tip);
    button->setEnabled(false);
    m_verbs->addWidget(button);
    return button;
}

void WorkRow::addField(const QString& label, QWidget* field)
{
    auto* words = new QLabel(label, m_fieldRow);
    words->setObjectName(QStringLiteral("soft"));
    words->setBuddy(field);
    field->setAccessibleName(label);
    const int place = m_fields->count() - 1;
    m_fields->insertWidget(place, words);
    m_fields->insertWidget(place + 1, field);
    m_fields->insertSpacing(place + 2, 8);
    m_fieldRow->show();
}

void WorkRow::setWorking(bool working)
{
    m_working = working;
    m_share = 0;
    m_left->clear();
    m_verb->setText(working ? tr("Cancel") : m_words);
    m_verb->setEnabled(working || m_hindrance.isEmpty());
    m_fieldRow->setEnabled(!working);
    update();
}

void WorkRow::setProgress(double share, const QString& words, std::optional<double> secondsLeft)
{
    m_share = std::clamp(share, 0.0, 1.0);
    setSentence(words, Outcome::None);
    m_left->setText(secondsLeft ? tr("%1 left").arg(secondsText(Seconds(*secondsLeft))) : QString());
    update();
}

void WorkRow::setSentence(const QString& sentence, Outcome outcome)
{
    m_outcome = outcome;
    m_sentence->setText(sentence);
    m_sentence->setToolTip(sentence);
    setAccessibleDescription(sentence);
    restyle();
}

void WorkRow::setHindrance(const QString& why)
{
    m_hindrance = why;
    m_verb->setEnabled(m_working || why.isEmpty());
    m_verb->setToolTip(why);
    if (!why.isEmpty() && !m_working)
        setSentence(why, Outcome::Neutral);
}

QString WorkRow::sentence() const
{
    return m_sentence->text();
}

void WorkRow::paintEvent(QPaintEvent*)
{
    const Palette& colors = currentPalette();
    QPainter painter(this);
    painter.fillRect(rect(), colors.panel);
    painter.fillRect(0, height() - 1, width(), 1, colors.line);
    if (m_working)
        painter.fillRect(QRectF(0, height() - kBar, width() * m_share, kBar), colors.accent);
}

void WorkRow::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        restyle();
}

void WorkRow::restyle()
{
    const Palette& colors = currentPalette();
    m_title->setFont(fontOf(12.5, true));
    QPalette palette = m_sentence->palette();
    palette.setColor(QPalette::WindowText, m_outcome == Outcome::Good  ? colors.better
                                           : m_outcome == Outcome::Bad ? colors.worse
                                                                       : colors.softText);
    if (palette != m_sentence->palette())
        m_sentence->setPalette(palette);
    QPalette soft = m_left->palette();
    soft.setColor(QPalette::WindowText, colors.softText);
    if (soft != m_left->palette())
        m_left->setPalette(soft);
}

} // namespace loadline
