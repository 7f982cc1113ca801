#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/inspect/inspect_state.h"
#include "ui/pages/inspect/view_text.h"

namespace roper {

/// A text that the model wrote. Above, the whole text: what was given plain, what was written coloured by how
/// sure the model was; behind every token the weight with which the chosen step looked at it. Below, the
/// likeliest tokens of that step. A click or the arrow keys choose a step.
class ContinuationView : public FigureView {
    Q_OBJECT

  public:
    ContinuationView(InspectState& state, QWidget* parent);

    int chosen() const { return chosen_; }
    void choose(int step);
    /// −1: the mean over all heads; otherwise layer·heads + head.
    void setHead(int head);

    /// Weights over the text with which the chosen token was written.
    std::vector<double> weights() const;
    QRectF tokenRect(int index) const;

    QString figureName() const override { return QStringLiteral("continuation"); }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSize leastSize() const override { return {320, 240}; }
    QSize leastScreenSize() const override { return {220, 130}; }

  signals:
    void chosenChanged(int step);

  protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    TokenLines linesIn(const QRectF& area) const;
    QString describe(int index) const;
    void paintText(QPainter& painter, const TokenLines& lines, const Theme& theme) const;
    void paintCandidates(QPainter& painter, const QRectF& box, const Theme& theme) const;

    InspectState& state_;
    int chosen_ = 0;
    int head_ = -1;
};

}  // namespace roper
