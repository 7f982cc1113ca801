#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/compare/compare_state.h"

namespace roper {

/// The outcome of every run as a dot, one row per group, with the mean and its interval. Runs that never
/// reached the target are in a separate column at the right; unfinished runs are counted.
class OutcomeView : public FigureView {
    Q_OBJECT

  public:
    OutcomeView(CompareState& state, QWidget* parent);

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSize minFigureSize() const override { return {320, 160}; }

  protected:
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    struct Scale;
    std::vector<const ComparedGroup*> shown() const;
    QStringList labels() const;
    Scale scale(const QRectF& area) const;
    void paintRow(QPainter& painter, const ComparedGroup& group, const Scale& scale, double y,
                  const Theme& theme) const;

    CompareState& state_;
};

}  // namespace roper
