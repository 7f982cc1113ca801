#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/compare/compare_state.h"

namespace roper {

/// Two groups seed by seed: on the left the two outcomes of each seed, joined by a line; on the right their
/// differences with the mean and its intervals, Student's and the bootstrap's.
class PairedView : public FigureView {
    Q_OBJECT

  public:
    PairedView(CompareState& state, QWidget* parent);

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSize minFigureSize() const override { return {520, 220}; }

  protected:
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    void paintPairs(QPainter& painter, const Theme& theme, const QRectF& area) const;
    void paintDifferences(QPainter& painter, const Theme& theme, const QRectF& area) const;

    CompareState& state_;
};

}  // namespace roper
