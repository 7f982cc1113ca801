#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeView>
#include <functional>

#include "ui/live/model_client.h"
#include "ui/pages/training/runs_model.h"
#include "ui/pages/training/training_state.h"

namespace roper {

/// The tree of experiments and runs, with the actions for selected runs: pause, resume, stop, checkpoint, and
/// those in the context menu.
class RunsPanel : public QWidget {
    Q_OBJECT

  public:
    RunsPanel(TrainingState& state, QWidget* parent);

    RunsModel& model() { return *model_; }
    QTreeView& tree() { return *tree_; }
    /// The run whose samples and notices are shown: that of the current row, or the first run of the current
    /// experiment. Null if there is none.
    RunWatcher* selected() const;
    /// All selected runs; for a selected experiment, all its runs that pass the filter.
    std::vector<RunWatcher*> allSelected() const;
    void select(const QString& name);

    /// The runs for the charts: the selected one, then all others of its experiment and of ticked
    /// experiments, in the order of the filtered tree.
    QStringList charted() const;
    /// Unticks all experiments, so that only the selected one is in the charts.
    void chartOnlySelected() { model_->untickAll(); }
    /// Renames the folder of the selected run. @throws Error
    void rename(const QString& to);
    /// Sets the experiment name of runs. @throws Error
    void renameExperiment(const std::vector<RunWatcher*>& runs, const QString& name);

    /// Sends a command to the trainers of all selected runs in training.
    void send(Command command);
    /// Resumes paused runs, and restarts trainers of runs that have ended before their last step.
    void resumeSelected();

    QPushButton* pauseButton() { return pause_; }
    QPushButton* resumeButton() { return resume_; }
    QPushButton* stopButton() { return stop_; }

  signals:
    void selectionChanged();
    /// Emitted when the set of charted runs has changed.
    void chartedChanged();
    void colorChosen(const QString& run, const QColor& color);
    void renamed(const QString& from, const QString& to);
    void reported(const QString& message);
    /// Emitted to inspect the selected run's model, with or without its twin.
    void inspectRequested(const QString& run, bool with_twin);
    /// Emitted to compare the groups of an experiment; `filter` matches its runs.
    void compareRequested(const QString& filter);
    /// Emitted to compare only the groups of these runs.
    void compareRunsRequested(const QStringList& runs);
    /// Emitted to use a run's settings for a new one.
    void settingsRequested(const roper::Specification& specification);

  protected:
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    QWidget* makeButtons();
    void makeTree();
    void send(Command command, const RunWatcher& run);
    void showButtons();
    void openMenu(const QPoint& at);
    void openColumnMenu(const QPoint& at);
    void openFolder();
    void trashRuns();
    void reloadLabels();
    void askForName(const QString& title, const QString& label, const QString& before,
                    const std::function<void(const QString& name)>& rename);
    void askForFolderName();
    void askForExperimentName();
    void askForNotes();
    void showDifferences();
    void askForColor();
    void enqueueSelected();
    void toggleTicks();
    /// Keys of the experiments of these runs, each once.
    QStringList experimentsOf(const std::vector<RunWatcher*>& runs) const;
    bool isCharted(const QString& experiment) const;
    bool areTicked(const std::vector<RunWatcher*>& runs) const;
    std::vector<RunWatcher*> listedUnder(const QModelIndex& index) const;
    void fitNameColumn();
    bool isRowVisible(const QModelIndex& index) const;
    void scrollToCurrent();
    bool canResume(const RunWatcher& run) const;
    bool canBeQueued(const RunWatcher& run) const;

    TrainingState& state_;
    RunStore& store_;
    RunsModel* model_;
    RunFilterModel* proxy_;
    QTreeView* tree_;
    bool was_shown_ = false;
    bool is_resizing_columns_ = false;  ///< true while the program changes column widths
    bool name_width_chosen_ = false;    ///< the user has set the width of the name column
    bool current_was_visible_ = false;  ///< whether the current row was visible before rows were sorted
    QLineEdit* filter_;
    QLabel *detail_, *filter_problem_;  ///< notices about the selection; error in the filter
    QPushButton *pause_, *stop_, *checkpoint_, *resume_;
    ControlClient* control_;
    QString version_note_;  ///< note about the version of the trainer that last received a command
};

}  // namespace roper
