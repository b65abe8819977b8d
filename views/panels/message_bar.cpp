// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/message_bar.hpp"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace loadline {

MessageBar::MessageBar(QWidget* parent) : QWidget(parent), m_label(new QLabel(this))
{
    setObjectName(QStringLiteral("messageBar"));
    setAttribute(Qt::WA_StyledBackground);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(16, 6, 12, 6);
    layout->addWidget(m_label, 1);
    auto* close = new QToolButton(this);
    close->setText(tr("Close"));
    layout->addWidget(close);
    m_label->setWordWrap(true);
    m_label->setTextFormat(Qt::PlainText);
    m_label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    hide();
}

void MessageBar::showMessage(const QString& sentence)
{
    m_label->setText(sentence);
    setAccessibleName(sentence);
    setVisible(!sentence.isEmpty());
}

QString MessageBar::message() const
{
    return isHidden() ? QString() : m_label->text();
}

} // namespace loadline
