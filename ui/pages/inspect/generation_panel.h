#pragma once

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>

#include "ui/controls/line_edit.h"
#include "ui/pages/inspect/continuation_view.h"
#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// The model's continuation of a prompt, token by token with attention weights; beside it that of another
/// model, below it that of the changed model.
class GenerationPanel : public ModelPanel {
    Q_OBJECT

  public:
    GenerationPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override;
    std::vector<const AnswerSpec*> requiredAnswers() const override {
        return {&answers::reading, &answers::changed};
    }
    std::vector<const AnswerSpec*> comparisonAnswers() const override { return {&answers::model}; }
    std::vector<const AnswerSpec*> answersForFigure(const QString&) const override { return {}; }
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
    QLabel *continuation_title_, *comparison_title_, *end_note_;
    QWidget* comparison_text_;
    QString shown_model_;
    bool filling_ = false;
};

}  // namespace roper
