#pragma once

#include "ui/pages/inspect/learned_view.h"
#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// What a run's position method has learned.
class LearnedPanel : public ModelPanel {
    Q_OBJECT

  public:
    LearnedPanel(ModelsState& state, InspectState& run, QWidget* parent);

    PageFigures::Figures figures() const override { return {&learned_->chart()}; }
    /// @throws Error (usage) if the run has no such numbers
    void prepare(const QString& figure, const ModelsPicture& picture) override;

    LearnedView& learned() { return *learned_; }

  protected:
    void refresh() override { learned_->refresh(); }

  private:
    LearnedView* learned_;
};

}  // namespace roper
