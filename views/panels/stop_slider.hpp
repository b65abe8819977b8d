// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <vector>

namespace loadline {

/// A slider that rests only at values that exist, each with its mark: 1 – 2 – 4 – 8 – 16.
class StopSlider : public QWidget {
    Q_OBJECT
public:
    StopSlider(std::vector<int> stops, QWidget* parent = nullptr);

    void setValue(int value);
    [[nodiscard]] int value() const { return m_stops[m_index]; }
    [[nodiscard]] QPoint stopPosition(int value) const;
    [[nodiscard]] QSize sizeHint() const override;

signals:
    void valueChosen(int value); ///< by a person

protected:
    void paintEvent(QPaintEvent*) override;
    void mousePressEvent(QMouseEvent*) override;
    void mouseMoveEvent(QMouseEvent*) override;
    void keyPressEvent(QKeyEvent*) override;

private:
    void moveTo(std::size_t index);
    [[nodiscard]] double position(std::size_t index) const;
    [[nodiscard]] std::size_t nearest(double x) const;
    void describe();

    std::vector<int> m_stops;
    std::size_t m_index = 0;
};

} // namespace loadline
