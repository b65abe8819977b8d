// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QPointer>

#include <vector>

class QAction;
class QLineEdit;
class QListWidget;

namespace loadline {

/// Every command by name: type some letters of it, Enter runs it. Each line shows its key. Commands that cannot run now stand greyed at
/// the end.
class CommandPalette : public QDialog {
    Q_OBJECT
public:
    explicit CommandPalette(QWidget* parent = nullptr);

    /// Opens below the top of the parent with these commands. They may be destroyed meanwhile.
    void openWith(const std::vector<QAction*>& actions);

    [[nodiscard]] QLineEdit* field() const { return m_field; }
    [[nodiscard]] QStringList shownWords() const; ///< from the best

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refill();
    void runCurrent();

    QLineEdit* m_field;
    QListWidget* m_list;
    std::vector<QPointer<QAction>> m_actions;
};

/// An action's words without mnemonics and dots.
QString plainWords(const QAction& action);

} // namespace loadline
