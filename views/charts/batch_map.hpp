// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/batch_surface.hpp"
#include "views/charts/chart_table.hpp"

#include <QWidget>

#include <memory>
#include <optional>

namespace loadline {

/// Throughput over batch (columns) and accumulation (rows) as a heat map, with the edge beyond which memory runs out. The best cell has
/// a star, the shown plan's a frame. Click or Enter chooses a cell; arrows move.
class BatchMap : public QWidget, public TableSource {
    Q_OBJECT
public:
    explicit BatchMap(QWidget* parent = nullptr);

    void setSurface(std::shared_ptr<const BatchSurface> surface);
    /// Batch and accumulation of the shown plan; it need not be on the map.
    void setShown(std::int64_t batch, std::int64_t accumulation);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] ChartTable table() const override;
    [[nodiscard]] QRect cellRect(std::size_t batch, std::size_t accumulation) const;
    [[nodiscard]] const BatchSurface* surface() const { return m_surface.get(); }

signals:
    void cellChosen(qint64 batch, qint64 accumulation);
    void hovered(const QString& words);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Place {
        std::size_t batch = 0;
        std::size_t accumulation = 0;
        friend bool operator==(const Place&, const Place&) = default;
    };
    [[nodiscard]] std::optional<Place> placeAt(QPointF point) const;
    [[nodiscard]] std::optional<Place> best() const;
    [[nodiscard]] QString words(const BatchCell& cell) const;
    [[nodiscard]] QRectF area() const;
    void paintCell(QPainter& painter, Place place, double least, double most) const;
    void paintEdge(QPainter& painter) const;
    void paintAxes(QPainter& painter) const;
    void choose(Place place);
    void describe();

    std::shared_ptr<const BatchSurface> m_surface;
    std::int64_t m_batch = 0;
    std::int64_t m_accumulation = 0;
    Place m_cursor;
};

} // namespace loadline
