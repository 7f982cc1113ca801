#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTimer>

#include "ui/charts/bar_chart.h"
#include "ui/charts/curve_chart.h"
#include "ui/charts/heat_map_view.h"
#include "ui/page/page.h"
#include "ui/pages/models/atlas_view.h"
#include "ui/pages/models/change_panel.h"
#include "ui/pages/models/head_grid_view.h"
#include "ui/pages/models/models_state.h"
#include "ui/pages/models/predictions_view.h"
#include "ui/pages/models/subsets_view.h"
#include "ui/pages/models/surprise_view.h"

namespace roper {

/// What the picture of the bands shows of each pair.
enum class BandQuantity { score_share, query_norm, key_norm, value_norm };

/// What the picture of a head's reach shows by distance.
enum class ReachQuantity { weight, score };

/// Page 8: a model of the world, or one trained here, looked into: how well it predicts a text, what its
/// heads and their bands do, what breaks when a part is taken away.
class ModelsPage : public Page {
    Q_OBJECT

  public:
    ModelsPage(RunStore& store, QWidget* parent);

    void addActions(Actions& actions) override;
    QString explanation() const override;

    enum Tab { text_tab, heads_tab, bands_tab, values_tab, subsets_tab, lengths_tab, layers_tab, patch_tab };
    void showTab(Tab tab) { tabs_->setCurrentIndex(tab); }

    ModelsState& state() { return *state_; }
    /// What stands beside it: another model that reads the same text; its bands and kernels are drawn along.
    ModelsState& besideState() { return *beside_state_; }
    void setBeside(const QString& model);
    /// Whether bands of single heads or their mean over all heads are drawn.
    void setMean(bool mean);
    /// Opens a model by the name of a run or the path of a published one.
    void open(const QString& model);
    /// Opens a published model that was chosen on the disk, or says why it is none.
    void openPublished(const QString& path);
    void readText(const QString& text);
    QPlainTextEdit& text() { return *text_; }
    QComboBox& models() { return *models_; }
    ChangePanel& change() { return *change_; }
    SurpriseView& surprise() { return *surprise_; }
    AtlasView& atlas() { return *atlas_; }
    HeadGridView& grid() { return *grid_; }
    HeatMapView& map() { return *map_; }
    HeatMapView& bands() { return *bands_; }
    BarChart& headBands() { return *head_bands_; }
    CurveChart& kernels() { return *kernels_; }
    SubsetsView& subsets() { return *subsets_; }
    CurveChart& lengths() { return *lengths_; }
    HeatMapView& tokenMap() { return *token_map_; }
    HeatMapView& needle() { return *needle_map_; }
    HeatMapView& lens() { return *lens_map_; }
    HeatMapView& patch() { return *patch_map_; }
    BarChart& patchPositions() { return *patch_positions_; }
    void setQuantity(BandQuantity quantity);
    CurveChart& reach() { return *reach_; }
    /// Of a run: whether the kernels of the chosen head are drawn at every checkpoint, rather than those of
    /// all heads of its layer at the newest.
    void setOverTraining(bool over_training);
    void setReachQuantity(ReachQuantity quantity);

  protected:
    void becomeSeen(bool seen) override;
    void refresh() override;

  private:
    Figure& prepareFigure(FigureRequest request);
    QWidget* makeChooser();
    QWidget* makeTextTab();
    QWidget* makeHeadsTab();
    QWidget* makeBandsTab();
    QWidget* makeValuesTab();
    QWidget* makeSubsetsTab();
    QWidget* makeLengthsTab();
    QWidget* makeLayersTab();
    QWidget* makePatchTab();
    void connectStudies();
    void showLengths();
    void showNeedle();
    void showLens();
    void showPatch();
    void showPatchPositions();
    QString pointedLayer(int row, int column) const;
    void connectState();
    void fillModels();
    void fillBeside();
    void wantBeside();
    QString titleOf(const ModelsState& state) const;
    QColor colorOf(const ModelsState& state, const Theme& theme) const;
    std::optional<Eigen::VectorXd> bandsOf(const ModelsState& state) const;
    void chooseFile();
    void chooseFolder();
    void wantWhatIsSeen();
    void showModel();
    void showAnswers();
    void showWork();
    void showAnswer(const Need* what);
    void showEffect();
    void showLabels();
    void showHead();
    void showMap();
    void showBands();
    void showHeadBands();
    void showKernels();
    void showKernelsOfHeads();
    void showKernelsOverTraining();
    void showTokenMap();
    QString pointedTokens(int row, int column) const;
    void showReach();
    QWidget* makeWelcome();
    void fillWelcome();
    void showWritten();
    void showSolved();
    void write();
    QString pointedWeight(int row, int column) const;
    QString pointedBand(int row, int column) const;

    RunStore& store_;
    ModelsState *state_, *beside_state_;
    QComboBox *models_, *beside_, *shade_, *colour_, *label_, *quantity_, *reach_quantity_;
    QCheckBox *mean_, *over_training_;
    QPlainTextEdit* text_;
    QLabel *summary_, *cost_, *message_, *map_title_, *written_;
    QPushButton *read_, *cancel_, *write_, *compute_;
    QProgressBar* progress_;
    QSpinBox *layer_, *head_, *count_, *seed_, *band_count_;
    QDoubleSpinBox* temperature_;
    QTabWidget* tabs_;
    QStackedWidget* stack_;
    QVBoxLayout* welcome_buttons_;
    ChangePanel* change_;
    SurpriseView* surprise_;
    PredictionsView* predictions_;
    AtlasView* atlas_;
    HeadGridView* grid_;
    HeatMapView *map_, *bands_;
    BarChart* head_bands_;
    SubsetsView* subsets_;
    CurveChart *reach_, *kernels_, *directions_, *lengths_;
    HeatMapView *needle_map_, *lens_map_, *patch_map_, *token_map_;
    BarChart* patch_positions_;
    NumberEdit* length_factor_;
    QSpinBox *trained_, *distance_;
    QPushButton *read_longer_, *hide_needle_, *patch_button_;
    LineEdit *needle_text_, *needle_question_, *needle_answer_, *other_;
    bool filling_ = false;
    QString wished_model_;  ///< of the last session, to be opened when the page is seen
    QTimer listing_;        ///< runs that come one after the other are listed once
};

}  // namespace roper
