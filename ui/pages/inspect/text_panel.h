#pragma once

#include <QComboBox>

#include "ui/charts/figure_view.h"
#include "ui/pages/inspect/model_panel.h"
#include "ui/pages/inspect/surprisal_view.h"

namespace roper {

/// The likeliest successors of a token as bars, before and after the change.
class PredictionsView : public FigureView {
    Q_OBJECT

  public:
    PredictionsView(InspectState& state, QWidget* parent);

    /// Shows the successors of a token of the text. @param token  its index; −1: none
    void setToken(int token) { setAndUpdate(token_, token); }

    QSize minFigureSize() const override { return {240, 150}; }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;

  protected:
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    struct Row {
        std::string token;
        std::optional<double> as_trained, with_change;  ///< probabilities; unknown if not among the likeliest
        bool is_next = false;                           ///< the text continues with this token
    };
    std::vector<Row> rows() const;
    QString title() const;

    InspectState& state_;
    int token_ = -1;
};

/// How well the model predicts each token of the text, and which successors it expects.
class TextPanel : public ModelPanel {
    Q_OBJECT

  public:
    TextPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override { return {surprisal_, predictions_}; }
    void prepare(const QString& figure, const InspectFigureSettings& picture) override;

    void setShade(SurprisalView::Shade shade);

  protected:
    void refresh() override {}  // the figures follow the state themselves

  private:
    SurprisalView* surprisal_;
    PredictionsView* predictions_;
    QComboBox* shade_;
    QMetaObject::Connection token_of_figure_;  ///< chooses the token of the figure's settings
};

}  // namespace roper
