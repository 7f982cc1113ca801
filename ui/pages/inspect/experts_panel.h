#pragma once

#include <QComboBox>

#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// What the map of chosen experts shows for each token: the number of the expert that the router scores
/// highest, or the weight of its output.
enum class ExpertColor { index, weight };

/// The experts that the routers of a mixture of experts choose for each token, and how many tokens each
/// expert processes.
class ExpertsPanel : public ModelPanel {
    Q_OBJECT

  public:
    ExpertsPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override { return {choices_, counts_}; }
    AnswerSpecs requiredAnswers() const override;
    AnswerSpecs answersForFigure(const QString&) const override { return {&answers::experts}; }
    void prepare(const QString& figure, const InspectFigureSettings& picture) override;

  protected:
    void refresh() override;

  private:
    bool hasNoMixtures() const { return state().summary() != nullptr && state().summary()->experts == 0; }
    ExpertColor color() const { return static_cast<ExpertColor>(color_->currentIndex()); }
    void showChoices(const ExpertsAnswer& answer);
    void showCounts(const ExpertsAnswer& answer);
    QString choiceReadout(const ExpertsAnswer& answer, std::size_t row, std::size_t column) const;
    QString countReadout(const ExpertsAnswer& answer, std::size_t row, std::size_t column) const;

    HeatMapView *choices_, *counts_;  ///< [layers × tokens], [layers × experts]
    QComboBox* color_;
};

}  // namespace roper
