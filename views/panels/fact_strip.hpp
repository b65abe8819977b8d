// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/plan_picture.hpp"

#include <QWidget>

#include <array>

namespace loadline {

/// The figures that matter, always in view: step time, peak of budget, throughput, exposed communication, shadow price,
/// and a chip that says how far the answer can be trusted.
class FactStrip : public QWidget {
    Q_OBJECT
public:
    enum Fact { StepTime, Peak, Throughput, Exposed, ShadowPrice, kFacts };
    struct Figure {
        QString caption;
        QString value;
        QString note;
        int mood = 0; ///< of the note: 1 better, −1 worse
        QString help; ///< what it is and how it comes about
    };
    enum class Proof { None, Searching, Optimal, WithinGap, Infeasible };

    explicit FactStrip(QWidget* parent = nullptr);

    /// `reference`: a pinned plan to compare with, or null. While nothing fits, figures of the last plan stay, pale.
    void setPicture(const PlanPicturePtr& picture, const PlanPicturePtr& reference);
    void setSearching(bool searching);

    [[nodiscard]] const Figure& figure(Fact fact) const { return m_figures[fact]; }
    [[nodiscard]] QString proofText() const;
    [[nodiscard]] Proof proof() const { return m_searching ? Proof::Searching : m_proof; }
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent*) override;
    bool event(QEvent* event) override;

private:
    void fill(const Plan& plan, const PlanOutcome& outcome, const PlanPicturePtr& reference);
    [[nodiscard]] int columnWidth() const;
    int paintChip(QPainter& painter, int right, const QString& words, const QColor& color, bool dot) const;

    std::array<Figure, kFacts> m_figures;
    Proof m_proof = Proof::None;
    QString m_proofWords;
    QString m_estimate;
    bool m_searching = false;
    bool m_pale = false;
};

} // namespace loadline
