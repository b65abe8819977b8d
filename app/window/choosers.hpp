// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session/answer.hpp"

#include <QObject>

class QComboBox;
class QToolBar;

namespace loadline {

/// In the toolbars: everything that the question consists of, beside the budget and the granularity. The choosers show the session's
/// inputs and ask for others; each choice is one undo step.
class Choosers : public QObject {
    Q_OBJECT
public:
    /// Model, cluster and its shape go to the `first` bar, the rest to the `second`.
    Choosers(QToolBar* first, QToolBar* second, QObject* parent);

    void setInputs(const Inputs& inputs);
    /// The batch that a search for "auto" has chosen; 0 while unknown.
    void setChosenBatch(std::int64_t batch);

    [[nodiscard]] QComboBox* model() const { return m_model; }
    [[nodiscard]] QComboBox* cluster() const { return m_cluster; }
    [[nodiscard]] QComboBox* sequence() const { return m_sequence; }
    [[nodiscard]] QComboBox* batch() const { return m_batch; }
    [[nodiscard]] QComboBox* precision() const { return m_precision; }
    [[nodiscard]] QComboBox* nodes() const { return m_nodes; }
    [[nodiscard]] QComboBox* gpus() const { return m_gpus; }
    [[nodiscard]] QComboBox* accumulation() const { return m_accumulation; }
    [[nodiscard]] QComboBox* optimizer() const { return m_optimizer; }
    [[nodiscard]] QComboBox* recompute() const { return m_recompute; }
    [[nodiscard]] QComboBox* unit() const { return m_unit; }
    [[nodiscard]] QComboBox* runtime() const { return m_runtime; }
    [[nodiscard]] QComboBox* time() const { return m_time; }

signals:
    void modelChosen(const QString& name);
    void openAsked();
    void clusterChosen(const QString& name);
    void sequenceChosen(qint64 tokens);
    void batchChosen(const QString& batch);
    void precisionChosen(const QString& name);
    void optionsChosen(const QString& step, const loadline::RequestOptions& options);

private:
    QComboBox* add(QToolBar* bar, const QString& label, int width);
    void fillModels();
    void fillRest();
    void joinText(QComboBox* box, const QString& step, std::string RequestOptions::*member);
    void joinCount(QComboBox* box, const QString& step, bool nodes);
    void showShape(const RequestOptions& options);
    void select(QComboBox* box, const QString& value, const QString& words);

    QComboBox* m_model;
    QComboBox* m_cluster;
    QComboBox* m_nodes;
    QComboBox* m_gpus;
    QComboBox* m_sequence;
    QComboBox* m_batch;
    QComboBox* m_accumulation;
    QComboBox* m_precision;
    QComboBox* m_optimizer;
    QComboBox* m_recompute;
    QComboBox* m_unit;
    QComboBox* m_runtime;
    QComboBox* m_time;
    RequestOptions m_options; ///< as shown
};

} // namespace loadline
