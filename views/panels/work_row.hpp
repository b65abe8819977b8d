// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <optional>

class QHBoxLayout;
class QLabel;
class QPushButton;
class QToolButton;

namespace loadline {

/// Head of a page on which something is measured: what it is, start and cancel in one button, further verbs, how far it is, and how it
/// ended in one sentence. State is words and colour, never colour alone.
class WorkRow : public QWidget {
    Q_OBJECT
public:
    enum class Outcome { None, Good, Neutral, Bad };

    WorkRow(const QString& title, const QString& verb, QWidget* parent = nullptr);

    /// A further verb at the right of the first.
    QToolButton* addVerb(const QString& words, const QString& tip);
    /// A labelled field in the second row.
    void addField(const QString& label, QWidget* field);

    /// While it works the verb becomes "Cancel" and the fields rest.
    void setWorking(bool working);
    /// `share` from 0 to 1.
    void setProgress(double share, const QString& words, std::optional<double> secondsLeft);
    void setSentence(const QString& sentence, Outcome outcome);
    /// Not now, and why; empty: possible.
    void setHindrance(const QString& why);

    [[nodiscard]] QString sentence() const;
    [[nodiscard]] bool working() const { return m_working; }
    [[nodiscard]] double progress() const { return m_share; }
    [[nodiscard]] QToolButton* verb() const { return m_verb; }

signals:
    void startAsked();
    void cancelAsked();

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void restyle();

    QString m_words; ///< of the verb when nothing runs
    QToolButton* m_verb;
    QLabel* m_title;
    QLabel* m_sentence;
    QLabel* m_left;
    QHBoxLayout* m_verbs;
    QHBoxLayout* m_fields;
    QWidget* m_fieldRow;
    QString m_hindrance;
    Outcome m_outcome = Outcome::None;
    double m_share = 0;
    bool m_working = false;
};

} // namespace loadline
