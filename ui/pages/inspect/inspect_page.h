#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>
#include <QTabWidget>
#include <QTimer>

#include "ui/charts/heat_map_view.h"
#include "ui/controls/line_edit.h"
#include "ui/page/page.h"
#include "ui/pages/inspect/continuation_view.h"
#include "ui/pages/inspect/inspect_state.h"
#include "ui/pages/inspect/learned_view.h"
#include "ui/pages/inspect/sizes_view.h"
#include "ui/pages/inspect/thumbnails_view.h"

namespace roper {

/// Page 7: inside a trained model. All heads at a step and over the steps of the run, what the model
/// generates after a text, what it solves by size.
class InspectPage : public Page {
    Q_OBJECT

  public:
    InspectPage(RunStore& store, QWidget* parent);

    void refreshHidden() override { learned_->refresh(); }
    void addActions(Actions& actions) override;
    QString explanation() const override;

    InspectState& state() { return *state_; }
    /// What stands beside it: another run, the same head and step of it.
    InspectState& besideState() { return *beside_state_; }
    /// Shows a run, alone or with its twin beside it if it has one.
    void inspect(const QString& run, bool with_twin);
    ThumbnailsView& thumbnails() { return *thumbnails_; }
    HeatMapView& map() { return *map_; }
    HeatMapView& besideMap() { return *beside_map_; }
    HeatMapView& sizeMap() { return sizes_->map(); }
    HeatMapView& besideSizeMap() { return beside_sizes_->map(); }
    ContinuationView& continuation() { return *continuation_; }
    LearnedView& learned() { return *learned_; }
    QSlider& scrubber() { return *scrubber_; }
    void showTab(int tab) { tabs_->setCurrentIndex(tab); }

  protected:
    void becomeSeen(bool seen) override;

  private:
    Figure& prepareFigure(FigureRequest request);
    QWidget* makeChooser();
    void connectBeside();
    void fillBeside();
    QString methodOf(const QString& run) const;
    void setBeside(const QString& run);
    void showBeside();
    void followBeside();
    void matchCheckpoint();
    void showMapOf(const InspectState& state, HeatMapView& view, QLabel& title) const;
    QString pointedText(const InspectState& state, int row, int column) const;
    QWidget* makeHeadsTab();
    QWidget* makeGenerationTab();
    QWidget* makeSizesTab();
    void fillRuns();
    void fillSteps();
    void showRun();
    void showSnapshots();
    void showMap();
    void showSizes();
    void countSizes();
    bool isCountingSizes() const;
    void showMessage();
    void fillHeads();
    void play();
    void look();
    void generate();

    RunStore& store_;
    InspectState *state_, *beside_state_;
    QComboBox *runs_, *beside_, *steps_, *order_, *generation_head_;
    LineEdit *text_, *prompt_;
    QSlider* scrubber_;
    QLabel *scrubber_label_, *message_, *map_title_, *beside_title_, *small_title_, *beside_small_title_,
        *text_title_, *beside_text_title_;
    QPushButton *play_, *look_, *generate_, *count_sizes_;
    QCheckBox* with_working_;
    QSpinBox *count_, *seed_, *problems_;
    QDoubleSpinBox* temperature_;
    QTabWidget* tabs_;
    ThumbnailsView *thumbnails_, *beside_thumbnails_;
    HeatMapView *map_, *beside_map_;
    SizesView *sizes_, *beside_sizes_;
    ContinuationView *continuation_, *beside_continuation_;
    QWidget *beside_small_ = nullptr, *beside_large_ = nullptr, *beside_text_ = nullptr;
    LearnedView* learned_;
    QTimer player_, beside_listing_;
    QString shown_run_;
    bool filling_ = false;
};

}  // namespace roper
