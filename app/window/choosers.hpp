// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session/answer.hpp"

#include <QObject>

class QComboBox;
class QToolBar;

namespace loadline {

/// The toolbar's choosers: model, cluster, sequence, batch, precision. They show the session's inputs and ask for others.
class Choosers : public QObject {
    Q_OBJECT
public:
    Choosers(QToolBar* bar, QObject* parent);

    void setInputs(const Inputs& inputs);
    /// The batch that a search for "auto" has chosen; 0 while unknown.
    void setChosenBatch(std::int64_t batch);

    [[nodiscard]] QComboBox* model() const { return m_model; }
    [[nodiscard]] QComboBox* cluster() const { return m_cluster; }
    [[nodiscard]] QComboBox* sequence() const { return m_sequence; }
    [[nodiscard]] QComboBox* batch() const { return m_batch; }
    [[nodiscard]] QComboBox* precision() const { return m_precision; }

signals:
    void modelChosen(const QString& name);
    void openAsked();
    void clusterChosen(const QString& name);
    void sequenceChosen(qint64 tokens);
    void batchChosen(const QString& batch);
    void precisionChosen(const QString& name);

private:
    QComboBox* add(QToolBar* bar, const QString& label, int width);
    void fillModels();
    void select(QComboBox* box, const QString& value, const QString& words);

    QComboBox* m_model;
    QComboBox* m_cluster;
    QComboBox* m_sequence;
    QComboBox* m_batch;
    QComboBox* m_precision;
};

} // namespace loadline
