#pragma once

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>

#include "ui/charts/figure_view.h"
#include "ui/controls/text_inputs.h"
#include "ui/pages/inspect/inspect_state.h"
#include "ui/pages/inspect/model_panel.h"
#include "ui/pages/inspect/view_text.h"

namespace roper {

/// Above, a prompt with the generated text. A bar below each generated token shows its probability; the
/// background of every token, its attention weight when the chosen generated token was predicted. Below, the
/// likeliest candidates for that token. A click or the arrow keys choose one.
class ContinuationView : public FigureView {
    Q_OBJECT

  public:
    ContinuationView(InspectState& state, QWidget* parent);

    /// Index of the chosen token among the generated ones, from 0.
    int chosen() const { return chosen_; }
    void choose(int generated);
    /// @param head  layer·heads + head; −1: the mean over all heads
    void setHead(int head) { setAndUpdate(head_, head); }

    /// Attention weights of all tokens when the chosen token was predicted; 0 for that and later ones.
    std::vector<double> weights() const;
    /// Cell of a token on the canvas. @param index  from 0 at the first token of the prompt
    QRectF tokenRect(int index) const;

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSize minFigureSize() const override { return {320, 240}; }
    QSize minScreenSize() const override { return {220, 130}; }

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

/// The model's continuation of a prompt, token by token with attention weights; beside it that of another
/// model, below it that of the changed model.
class GenerationPanel : public ModelPanel {
    Q_OBJECT

  public:
    GenerationPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override;
    AnswerSpecs comparisonAnswers() const override { return {&answers::model}; }
    AnswerSpecs answersForFigure(const QString&) const override { return {}; }
    void prepare(const QString& figure, const InspectFigureSettings& picture) override;

    ContinuationView& continuation() { return *continuation_; }
    void generate();

  protected:
    void refresh() override;

  private:
    void makeControls();
    void showModel();
    void fillHeads();
    /// The text that is continued: the prompt, or the text of the page if the prompt is empty.
    QString prompt() const { return prompt_->text().isEmpty() ? state().text() : prompt_->text(); }

    ContinuationView *continuation_, *comparison_continuation_;
    LineEdit* prompt_;
    QSpinBox *count_, *seed_;
    QDoubleSpinBox* temperature_;
    QPushButton* generate_;
    QComboBox* head_;
    QLabel *continuation_title_, *comparison_title_;
    QLabel* end_note_;  ///< the continuation by the changed model
    QWidget* comparison_text_;
    QString shown_model_;  ///< model for which prompt and length were last set
};

}  // namespace roper
