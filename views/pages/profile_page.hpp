// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/profile.hpp"

#include <QWidget>

#include <map>

class QComboBox;
class QLabel;
class QLineEdit;
class QSpinBox;
class QToolButton;

namespace loadline {

class BarRows;
class TitleRow;
class WorkRow;

/// A distinct operator of the model, with what is known of it before anything is measured.
struct ProfileSubject {
    std::string key; ///< operatorKey
    QString name;    ///< of the first operator that has it, and how many share it
    Seconds forward; ///< estimated, for the batch that is asked for
    Seconds backward;
};

/// The operators of the model as they are measured: hatched where estimated, solid where measured. What is not measured yet is the
/// described device's estimate scaled by how much the measured ones differ from theirs.
class ProfilePage : public QWidget {
    Q_OBJECT
public:
    explicit ProfilePage(QWidget* parent = nullptr);

    void setSubjects(std::vector<ProfileSubject> subjects);
    /// Begins anew: forgets all rows.
    void begin();
    void addRow(const OperatorRow& row);
    /// A stored profile in place of a measurement.
    void setProfile(const Profile& profile);
    void setProvenance(const QString& words);
    void setDevices(const QStringList& kinds);

    [[nodiscard]] WorkRow* work() const { return m_work; }
    [[nodiscard]] BarRows* bars() const { return m_bars; }
    [[nodiscard]] std::size_t measured() const;
    [[nodiscard]] QString device() const;
    [[nodiscard]] int ranks() const;
    [[nodiscard]] std::vector<std::int64_t> batches() const; ///< empty if what is typed is not a list of numbers
    [[nodiscard]] std::int64_t sequence() const;
    [[nodiscard]] int seconds() const;
    void setSequence(std::int64_t sequence);
    void setRanks(int ranks);
    [[nodiscard]] QToolButton* saveVerb() const { return m_save; }
    [[nodiscard]] QToolButton* useVerb() const { return m_use; }
    [[nodiscard]] QToolButton* openVerb() const { return m_open; }

signals:
    void hovered(const QString& words);

private:
    void refill();
    void offerBatches();

    std::vector<ProfileSubject> m_subjects;
    std::map<std::pair<std::string, std::int64_t>, OperatorRow> m_rows; ///< by key and batch, whole operators only
    WorkRow* m_work;
    QToolButton* m_save;
    QToolButton* m_use;
    QToolButton* m_open;
    QComboBox* m_device;
    QSpinBox* m_ranks;
    QLineEdit* m_batches;
    QSpinBox* m_sequence;
    QSpinBox* m_seconds;
    QComboBox* m_shown; ///< batch on show
    TitleRow* m_title;
    BarRows* m_bars;
    QLabel* m_provenance;
};

} // namespace loadline
