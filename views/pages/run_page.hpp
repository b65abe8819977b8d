// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/exchange/verdict.hpp"

#include <QWidget>

#include <memory>
#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QSpinBox;
class QTreeWidget;
class QToolButton;
class QVBoxLayout;

namespace loadline {

class BarRows;
class LineChart;
class MeasuredMemoryChart;
class RunsTable;
class TitleRow;
class WorkRow;

/// A verification run: its ranks, losses and memory while it goes, then predicted against measured.
class RunPage : public QWidget {
    Q_OBJECT
public:
    explicit RunPage(QWidget* parent = nullptr);

    /// Begins anew. `peak`: what the plan predicts for every rank, without the overhead that no rank allocates.
    void begin(std::int64_t ranks, std::int64_t steps, Bytes peak);
    void take(const WorkerEvent& event);
    /// A run that ended before: of each rank its last step with its highest peak.
    void showStored(std::int64_t ranks, Bytes peak, const std::vector<WorkerStep>& last, const WorkerResult& result);
    void addWords(const QString& line);
    /// The run has ended; null: it told too little to compare.
    void setComparison(const std::shared_ptr<const RunComparison>& comparison);
    /// Calibration is possible, and is not done already.
    void setCalibratable(bool possible);

    [[nodiscard]] WorkRow* work() const { return m_work; }
    [[nodiscard]] BarRows* ranks() const { return m_rankBars; }
    [[nodiscard]] BarRows* units() const { return m_unitBars; }
    [[nodiscard]] LineChart* losses() const { return m_losses; }
    [[nodiscard]] MeasuredMemoryChart* memory() const { return m_memory; }
    /// Earlier runs of the open session.
    [[nodiscard]] RunsTable* runs() const { return m_runs; }
    [[nodiscard]] QTreeWidget* terms() const { return m_terms; }
    [[nodiscard]] QToolButton* calibrate() const { return m_calibrate; }
    [[nodiscard]] QToolButton* thisMachine() const { return m_thisMachine; }
    [[nodiscard]] QString device() const;
    void setDevices(const QStringList& kinds);
    [[nodiscard]] QStringList verdict() const;
    [[nodiscard]] QString log() const;
    [[nodiscard]] std::int64_t steps() const;
    [[nodiscard]] std::uint64_t seed() const;
    [[nodiscard]] QString data() const; ///< "random", or a file

signals:
    void hovered(const QString& words);

private:
    struct Rank {
        RankState state = RankState::Starting;
        std::int64_t step = 0;
        Bytes peak;
        QString why;
    };
    QWidget* makeLeft();
    QWidget* makeRight();
    void takeStep(const WorkerStep& step);
    void takeResult(const WorkerResult& result);
    void showRanks();
    void showLosses();
    void showUnits(const RunComparison& comparison);
    void showTerms(const RunComparison& comparison);
    void showVerdict(const RunComparison* comparison);

    WorkRow* m_work;
    QToolButton* m_calibrate;
    QToolButton* m_thisMachine;
    QComboBox* m_device;
    QSpinBox* m_steps;
    QSpinBox* m_seed;
    QLineEdit* m_data;
    TitleRow* m_rankTitle;
    BarRows* m_rankBars;
    LineChart* m_losses;
    QPlainTextEdit* m_log;
    QLabel* m_verdict;
    TitleRow* m_memoryTitle;
    MeasuredMemoryChart* m_memory;
    TitleRow* m_unitTitle;
    BarRows* m_unitBars;
    QTreeWidget* m_terms;
    RunsTable* m_runs;
    std::vector<Rank> m_ranks;
    std::vector<std::vector<double>> m_lossByStep; ///< [step - 1] -> of the ranks that told
    std::vector<double> m_unsharded;
    std::vector<double> m_meanLosses; ///< of the result
    std::int64_t m_stepsAsked = 0;
    Bytes m_peak;
    QStringList m_verdictLines;
};

} // namespace loadline
