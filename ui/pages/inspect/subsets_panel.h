#pragma once

#include <QPushButton>
#include <QSpinBox>

#include "ui/pages/inspect/model_panel.h"
#include "ui/pages/inspect/subsets_view.h"

namespace roper {

/// The loss with every subset of the bands.
class SubsetsPanel : public ModelPanel {
    Q_OBJECT

  public:
    SubsetsPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override { return {subsets_}; }
    std::vector<const Need*> needs() const override { return {&need::reading, &need::changed}; }
    void prepare(const QString& figure, const InspectPicture& picture) override;

    SubsetsView& subsets() { return *subsets_; }

  protected:
    void refresh() override;

  private:
    SubsetsView* subsets_;
    QSpinBox* band_count_;
    QPushButton* compute_;
};

}  // namespace roper
