#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QTimer>

#include "ui/pages/inspect/heads_view.h"
#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// The heads of a run over training, from its snapshots, beside those of another run at the same step. Also
/// the heads of a run's current weights, reading the text of the page.
class TrainingPanel : public ModelPanel {
    Q_OBJECT

  public:
    TrainingPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override;
    std::vector<const Need*> needs() const override { return needsOfMaps(state()); }
    std::vector<const Need*> besideNeeds() const override { return needsOfMaps(beside()); }
    std::vector<const Need*> needsOf(const QString&) const override { return {}; }
    /// @throws Error (usage) if the run has no such snapshot or head
    void prepare(const QString& figure, const InspectPicture& picture) override;

    HeadsView& thumbnails() { return *small_; }
    HeadsView& besideThumbnails() { return *beside_small_; }
    HeatMapView& map() { return *map_; }
    HeatMapView& besideMap() { return *beside_map_; }
    QSlider& scrubber() { return *scrubber_; }
    void play();
    void look();

  protected:
    void refresh() override;

  private:
    static std::vector<const Need*> needsOfMaps(const InspectState& state);
    void makeControls();
    void connectModels();
    void showSnapshots();
    void showMapOf(const InspectState& state, HeadsView& small, HeatMapView& map, QLabel& title) const;
    void followBeside();

    HeadsView *small_, *beside_small_;
    HeatMapView *map_, *beside_map_;
    QComboBox* order_;
    QSlider* scrubber_;
    QLabel *scrubber_label_, *map_title_, *beside_title_, *small_title_, *beside_small_title_;
    QPushButton *play_, *look_, *back_;
    QWidget *beside_small_area_, *beside_area_;
    QTimer player_;
    bool filling_ = false;
};

}  // namespace roper
