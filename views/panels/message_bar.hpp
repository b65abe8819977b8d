// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;

namespace loadline {

/// One sentence about something that failed, across the window, until it is closed or the next one comes.
class MessageBar : public QWidget {
    Q_OBJECT
public:
    explicit MessageBar(QWidget* parent = nullptr);

    void showMessage(const QString& sentence);
    [[nodiscard]] QString message() const;

private:
    QLabel* m_label;
};

} // namespace loadline
