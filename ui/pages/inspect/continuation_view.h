#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/inspect/inspect_state.h"
#include "ui/pages/inspect/view_text.h"

namespace roper {

/// A generated text. Above, the whole text: the prompt plain, generated tokens coloured by their probability;
/// the background of each token shows its attention weight at the chosen step. Below, the likeliest tokens of
/// that step. A click or the arrow keys choose a step.
class ContinuationView : public FigureView {
    Q_OBJECT

  public:
    ContinuationView(InspectState& state, QWidget* parent);

    int chosen() const { return chosen_; }
    void choose(int step);
    /// @param head  layer·heads + head; −1: the mean over all heads
    void setHead(int head);

    /// Attention weights over the text when the chosen token was generated.
    std::vector<double> weights() const;
    QRectF tokenRect(int index) const;

    QString figureName() const override { return QStringLiteral("continuation"); }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSize minFigureSize() const override { return {320, 240}; }
    QSize minScreenSize() const override { return {220, 130}; }

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
