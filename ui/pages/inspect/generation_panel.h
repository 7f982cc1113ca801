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
    std::vector<const Need*> needs() const override { return {&need::reading, &need::changed}; }
    std::vector<const Need*> besideNeeds() const override { return {&need::model}; }
    std::vector<const Need*> needsOf(const QString&) const override { return {}; }
    void prepare(const QString& figure, const InspectPicture& picture) override;

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

    ContinuationView *continuation_, *beside_continuation_;
    LineEdit* prompt_;
    QSpinBox *count_, *seed_;
    QDoubleSpinBox* temperature_;
    QPushButton* generate_;
    QComboBox* head_;
    QLabel *title_of_, *beside_title_, *written_;
    QWidget* beside_text_;
    QString shown_model_;
    bool filling_ = false;
};

}  // namespace roper
