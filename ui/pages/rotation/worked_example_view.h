#pragma once

#include <QLabel>
#include <QPushButton>

#include "ui/charts/figure_view.h"
#include "ui/pages/rotation/rotation_state.h"

class QTextDocument;

namespace roper {

/// The rotation of x at position m, calculated by hand with the numbers of the page: rich text that grows
/// step by step.
class WorkedExampleView : public FigureView {
    Q_OBJECT

  public:
    static constexpr int kSteps = 7;  ///< from frequencies to the comparison with a result on paper

    WorkedExampleView(RotationState& state, QWidget* parent);

    /// The number of steps shown, 1 to kSteps.
    int step() const { return step_; }
    void setStep(int step);

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSize figureSize() const override;
    QSizeF sizeForWidth(double width) const override;
    QSize preferredSize() const override;
    QSize minFigureSize() const override { return {300, preferredSize().height()}; }

  signals:
    void stepChanged(int step);

  private:
    QString html(const Theme& theme) const;
    void layOut(QTextDocument& document, const QFont& font, double width, const Theme& theme) const;

    RotationState& state_;
    int step_ = 1;
};

/// The view in a scroll area, with buttons for the next and previous step, and one that loads the published
/// example.
class WorkedExamplePanel : public QWidget {
    Q_OBJECT

  public:
    WorkedExamplePanel(RotationState& state, QWidget* parent);

    WorkedExampleView& view() { return *view_; }

  private:
    void showStep();

    WorkedExampleView* view_;
    QLabel* step_label_;
    QPushButton *back_, *next_;
};

}  // namespace roper
