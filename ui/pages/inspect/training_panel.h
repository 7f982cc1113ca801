#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QTimer>

#include "ui/pages/inspect/inspect_state.h"
#include "ui/pages/inspect/model_panel.h"
#include "ui/pages/inspect/thumbnails_view.h"

namespace roper {

/// The heads of a run over the steps of its training, from the snapshots that it left; beside them those of
/// another run at the same step. Also the heads of a run as it is now, reading the text of the page.
class TrainingPanel : public ModelPanel {
    Q_OBJECT

  public:
    TrainingPanel(ModelsState& state, InspectState& run, InspectState& beside, QWidget* parent);

    PageFigures::Figures figures() const override;
    /// @throws Error (usage) if the run has no such snapshot, or no such head
    void prepare(const QString& figure, const ModelsPicture& picture) override;

    ThumbnailsView& thumbnails() { return *thumbnails_; }
    HeatMapView& map() { return *map_; }
    HeatMapView& besideMap() { return *beside_map_; }
    QSlider& scrubber() { return *scrubber_; }
    void play();
    void look();

  protected:
    void refresh() override;

  private:
    void makeControls();
    void connectRuns();
    void showSnapshots();
    void showMapOf(const InspectState& run, HeatMapView& view, QLabel& title) const;
    QString pointedText(const InspectState& run, int row, int column) const;
    void followBeside();

    InspectState &run_, &beside_;
    ThumbnailsView *thumbnails_, *beside_thumbnails_;
    HeatMapView *map_, *beside_map_;
    QComboBox* order_;
    QSlider* scrubber_;
    QLabel *scrubber_label_, *map_title_, *beside_title_, *small_title_, *beside_small_title_;
    QPushButton *play_, *look_, *back_;
    QWidget *beside_small_, *beside_large_;
    QTimer player_;
    bool filling_ = false;
};

}  // namespace roper
