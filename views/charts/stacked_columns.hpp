// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/plot.hpp"

#include <QColor>

#include <vector>

namespace loadline {

/// Columns of stacked values, each from `edges[i]` to `edges[i + 1]` on the key axis, drawn as whole pixel columns: where
/// several columns share a pixel the tallest is drawn, so that a peak is never lost. Cost is bounded by pixels, not by
/// columns; QCPBars at 3,000 columns costs ten times as much (docs/window.md).
class StackedColumns : public QCPAbstractPlottable {
    Q_OBJECT
public:
    StackedColumns(QCPAxis* keyAxis, QCPAxis* valueAxis);

    /// `values[column * series + s]`; all not negative. `edges` has one entry more than there are columns.
    void setData(std::vector<double> edges, std::vector<double> values, std::size_t series);
    void setColors(std::vector<QColor> colors);
    void setGround(const QColor& ground) { m_ground = ground; } ///< what lies behind: the colour of hatching
    /// Pixels left free between columns that are at least four pixels wide.
    void setGap(int pixels) { m_gap = pixels; }
    /// 1 = solid; less where the columns are only the shadow of a plan.
    void setStrength(double strength) { m_strength = strength; }
    /// A second outline of totals over its own edges, drawn dotted; empty for none.
    void setGhost(std::vector<double> edges, std::vector<double> totals, const QColor& color);
    /// Columns whose values of one series are estimated, not measured: hatched. Shorter than the columns: the rest is not.
    void setHatched(std::vector<bool> columns, std::size_t series);
    /// Column with a frame around it, -1 for none.
    void setMarked(int column) { m_marked = column; }

    [[nodiscard]] std::size_t columns() const { return m_edges.empty() ? 0 : m_edges.size() - 1; }
    [[nodiscard]] double total(std::size_t column) const;
    /// The largest total of all columns; what the chart's highest point shows.
    [[nodiscard]] double maximum() const;
    /// Column at a key, -1 outside. O(log columns).
    [[nodiscard]] int columnAt(double key) const;

    double selectTest(const QPointF& pos, bool onlySelectable, QVariant* details = nullptr) const override;
    QCPRange getKeyRange(bool& foundRange, QCP::SignDomain inSignDomain = QCP::sdBoth) const override;
    QCPRange getValueRange(bool& foundRange, QCP::SignDomain inSignDomain = QCP::sdBoth,
                           const QCPRange& inKeyRange = QCPRange()) const override;

protected:
    void draw(QCPPainter* painter) override;
    void drawLegendIcon(QCPPainter* painter, const QRectF& rect) const override;

private:
    void drawColumn(QCPPainter& painter, std::size_t column, int left, int right) const;
    void drawGhost(QCPPainter& painter) const;

    std::vector<double> m_edges;
    std::vector<double> m_values;
    std::size_t m_series = 0;
    std::vector<QColor> m_colors;
    QColor m_ground;
    std::vector<bool> m_hatched;
    std::size_t m_hatchedSeries = 0;
    std::vector<double> m_ghostEdges;
    std::vector<double> m_ghostTotals;
    QColor m_ghostColor;
    int m_gap = 0;
    int m_marked = -1;
    double m_strength = 1;
};

} // namespace loadline
