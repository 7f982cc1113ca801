#pragma once

#include <QTabWidget>

#include "core/compare/paired.h"
#include "ui/page/page.h"
#include "ui/pages/training/cluster_panel.h"
#include "ui/pages/training/curve_looks.h"
#include "ui/pages/training/demonstration_card.h"
#include "ui/pages/training/log_view.h"
#include "ui/pages/training/metric_panel.h"
#include "ui/pages/training/preset_list.h"
#include "ui/pages/training/queue_panel.h"
#include "ui/pages/training/runs_panel.h"
#include "ui/pages/training/samples_view.h"
#include "ui/pages/training/specification_form.h"
#include "ui/pages/training/training_state.h"

namespace roper {

/// Page 5: start runs and watch them live.
class TrainingPage : public Page {
    Q_OBJECT

  public:
    /// @param history  receives the page's undo steps
    TrainingPage(RunStore& store, TrainerLauncher& launcher, QueueLauncher& queue, QUndoStack& history,
                 QWidget* parent);

    void addActions(Actions& actions) override;
    QString explanation() const override;

    /// Queues runs, after confirmation if they take long.
    /// @param there_already  number of further requested runs that are already trained or queued
    void queueRuns(const std::vector<Specification>& specifications, int there_already = 0);

    TrainingState& state() { return state_; }
    SpecificationForm& form() { return *form_; }
    MetricPanel& metrics() { return *metrics_; }
    RunsPanel& runsPanel() { return *runs_; }
    DemonstrationCard& demonstration() { return *demonstration_; }
    PresetList& presets() { return *presets_; }
    QPushButton* startButton() { return start_; }
    QPushButton* twinsButton() { return twins_; }
    QPushButton* queueButton() { return queue_twins_; }
    QSpinBox* seedCount() { return seeds_; }
    QueuePanel& queuePanel() { return *queue_panel_; }
    ClusterPanel& clusterPanel() { return *cluster_panel_; }

  signals:
    /// Emitted to inspect a run's model, with or without its twin, or to compare runs that match a filter.
    void inspectWanted(const QString& run, bool with_twin);
    void compareWanted(const QString& filter);
    void compareRunsWanted(const QStringList& runs);

  private:
    Figure& prepareFigure(FigureRequest request);
    void keepView();
    QWidget* makeChooser();
    QWidget* makeStartButtons();
    void followRun(RunWatcher* run);
    void selectNewest();
    void chartChosen();
    QList<CurveLooks::Run> curvesOf(const QStringList& runs);
    void showForm();
    static constexpr int kSeedsThatSaySomething = kFewPairs;
    void connectDemonstration();
    void queueTwins(const Specification& specification, int seeds);
    void startRuns(bool as_twins);
    void showSelected();

    TrainingState state_;
    DemonstrationCard* demonstration_;
    PresetList* presets_;
    SpecificationForm* form_;
    QTabWidget* chooser_;
    MetricPanel* metrics_;
    SamplesView* samples_;
    LogView* log_;
    RunsPanel* runs_;
    QueuePanel* queue_panel_;
    ClusterPanel* cluster_panel_;
    QTabWidget* lists_;
    QPushButton *start_, *twins_, *queue_twins_;
    QSpinBox* seeds_;
    CurveLooks looks_;
    QTimer listing_, timing_;
    QLabel* outlook_;  ///< the run's expected costs, or why it cannot start
};

}  // namespace roper
