// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/run_model.hpp"

#include <QWidget>

class QCheckBox;
class QTreeView;

namespace loadline {

class TitleRow;

/// Earlier runs of the open session in one table, with a switch for the columns in which they differ. Hidden while there are none.
class RunsTable : public QWidget {
    Q_OBJECT
public:
    explicit RunsTable(QWidget* parent = nullptr);

    void setLines(std::vector<RunLine> lines);

    [[nodiscard]] RunModel* model() const { return m_model; }
    [[nodiscard]] QTreeView* view() const { return m_view; }
    [[nodiscard]] QCheckBox* onlyDifferences() const { return m_only; }

signals:
    void openAsked(qint64 id);

private:
    void showColumns();

    TitleRow* m_title;
    QCheckBox* m_only;
    RunModel* m_model;
    QTreeView* m_view;
};

} // namespace loadline
