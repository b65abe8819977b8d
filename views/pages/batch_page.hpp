// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/batch_surface.hpp"

#include <QWidget>

#include <memory>

namespace loadline {

class BatchMap;
class WorkRow;

/// Throughput over batch and accumulation at the budget, with the edge beyond which nothing fits; a click on a cell asks to go there.
class BatchPage : public QWidget {
    Q_OBJECT
public:
    explicit BatchPage(QWidget* parent = nullptr);

    /// Null: there is none for the present question yet.
    void setSurface(const std::shared_ptr<const BatchSurface>& surface);
    [[nodiscard]] BatchMap* map() const { return m_map; }
    [[nodiscard]] WorkRow* work() const { return m_work; }

signals:
    void startAsked();
    void cancelAsked();
    void cellChosen(qint64 batch, qint64 accumulation);
    void hovered(const QString& words);

private:
    WorkRow* m_work;
    BatchMap* m_map;
};

} // namespace loadline
