#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QTimer>

#include "ui/pages/inspect/heads_view.h"
#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// The heads of a run over training, from its snapshots, beside those of the comparison run at the same step.
/// On request, the heads of the current weights on the page's text instead.
class SnapshotsPanel : public ModelPanel {
    Q_OBJECT

  public:
    SnapshotsPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override;
    AnswerSpecs requiredAnswers() const override { return answersForMaps(state()); }
    AnswerSpecs comparisonAnswers() const override { return answersForMaps(comparison()); }
    AnswerSpecs answersForFigure(const QString&) const override { return {}; }
    /// @throws Error (usage) if the run has no such snapshot or head
    void prepare(const QString& figure, const InspectFigureSettings& picture) override;

    HeadsView& comparisonThumbnails() { return *comparison_thumbnails_; }
    HeatMapView& comparisonMap() { return *comparison_map_; }
    void play();
    void readCurrentWeights();

  protected:
    void refresh() override;

  private:
    static AnswerSpecs answersForMaps(const InspectState& state);
    void makeControls();
    void connectModels();
    void showSnapshots();
    void showMapOf(const InspectState& state, HeadsView& thumbnails, HeatMapView& map, QLabel& title) const;
    void followComparison();

    HeadsView *thumbnails_, *comparison_thumbnails_;
    HeatMapView *map_, *comparison_map_;
    QComboBox* order_;
    QSlider* scrubber_;
    QLabel *scrubber_label_, *map_title_, *comparison_title_, *thumbnails_title_,
        *comparison_thumbnails_title_;
    QPushButton *play_, *read_weights_, *back_;
    QWidget *comparison_thumbnails_area_, *comparison_area_;
    QTimer player_;  ///< shows the next snapshot at each tick
};

}  // namespace roper
