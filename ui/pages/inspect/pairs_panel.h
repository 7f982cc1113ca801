#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <optional>

#include "ui/charts/bar_chart.h"
#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// Quantity of a pair: its share of the scores' variance, or the mean norm of its features in q, k or v.
enum class PairQuantity { score_share, query_norm, key_norm, value_norm };

/// A quantity of each pair of features in every head, and in the chosen head beside the comparison model's.
class PairsPanel : public ModelPanel {
    Q_OBJECT

  public:
    PairsPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override { return {pairs_map_, head_pairs_}; }
    AnswerSpecs requiredAnswers() const override {
        return {&answers::heads, &answers::predictions, &answers::changed_predictions};
    }
    AnswerSpecs comparisonAnswers() const override { return {&answers::heads}; }
    AnswerSpecs answersForFigure(const QString&) const override { return {&answers::heads}; }
    void prepare(const QString& figure, const InspectFigureSettings& picture) override;

  protected:
    void refresh() override;

  private:
    PairQuantity quantity() const { return static_cast<PairQuantity>(quantity_->currentIndex()); }
    void showPairs();
    void showHeadPairs();
    std::optional<Eigen::VectorXd> pairNumbersOf(const InspectState& model_state) const;
    QString pairReadout(const HeadsAnswer& answer, std::size_t row, std::size_t column) const;
    /// Layer and head of a row of the map; nothing if the row does not exist.
    std::optional<std::pair<int, int>> headOfRow(int row) const;

    HeatMapView* pairs_map_;
    BarChart* head_pairs_;
    QComboBox* quantity_;
    QCheckBox* mean_;
};

}  // namespace roper
