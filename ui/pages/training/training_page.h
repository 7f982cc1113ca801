#pragma once

#include <QTabWidget>

#include "core/compare/paired.h"
#include "ui/page/page.h"
#include "ui/pages/training/cluster_panel.h"
#include "ui/pages/training/curve_styles.h"
#include "ui/pages/training/demonstration_card.h"
#include "ui/pages/training/metric_panel.h"
#include "ui/pages/training/preset_list.h"
#include "ui/pages/training/queue_panel.h"
#include "ui/pages/training/run_output_views.h"
#include "ui/pages/training/runs_panel.h"
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
    /// @param already_present  number of further requested runs that are already trained or queued
    void queueRuns(const std::vector<Specification>& specifications, int already_present = 0);

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
    /// Emitted when runs have been added to the queue, whichever page requested them.
    void queued();
    /// Emitted to inspect a run's model, with or without its twin, or to compare runs that match a filter.
    void inspectRequested(const QString& run, bool with_twin);
    void compareRequested(const QString& filter);
    void compareRunsRequested(const QStringList& runs);

  private:
    Figure& prepareFigure(FigureRequest request) override;
    void registerViewSettings();
    QWidget* makeChooser();
    QWidget* makeStartButtons();
    void connectRun(RunWatcher* run);
    void selectNewest();
    void showChartedRuns();
    QList<CurveStyles::Run> curvesOf(const QStringList& runs);
    void showForm();
    static constexpr int kDefaultSeeds = kMinPairs;
    void connectDemonstration();
    /// Starts work of at most ten minutes at once, and asks for confirmation before longer work. The question
    /// does not block the window.
    /// @param what  the work as a noun: "60 runs"
    /// @param verb  label of the confirming button: "Queue"
    /// @param runs  trained one after the other
    void confirmLongWork(const QString& what, const QString& verb, const std::vector<Specification>& runs,
                         const std::function<void()>& work);
    void queueTwins(const Specification& specification, int seeds);
    void startRuns(bool as_twins);
    void showSelected();

    TrainingState state_;
    DemonstrationCard* demonstration_;
    PresetList* presets_;
    SpecificationForm* form_;
    QTabWidget* chooser_;  ///< presets and settings
    MetricPanel* metrics_;
    SamplesView* samples_;
    LogView* log_;
    RunsPanel* runs_;
    QueuePanel* queue_panel_;
    ClusterPanel* cluster_panel_;
    QTabWidget* lists_;  ///< runs, queue, cluster
    QPushButton *start_, *twins_, *queue_twins_;
    QSpinBox* seeds_;
    CurveStyles curve_styles_;
    QTimer list_timer_, time_timer_;  ///< delays until the charts, and the expected costs, are updated
    QLabel* expected_costs_;          ///< the run's expected costs, or why it cannot start
};

}  // namespace roper
