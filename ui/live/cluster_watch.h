#pragma once

#include <QObject>
#include <QTimer>
#include <filesystem>
#include <functional>
#include <optional>

#include "core/cluster/cluster.h"

namespace roper {

/// The state in Slurm of those runs of a folder that `roper-train sweep --slurm` submitted. Slurm is queried
/// regularly in another thread, since its programs may take seconds, and only while a widget shows the view.
class ClusterWatch : public QObject {
    Q_OBJECT

  public:
    ClusterWatch(std::filesystem::path runs, QObject* parent);

    /// Whether any run of this folder was ever submitted; does not query the scheduler.
    bool hasSubmissions() const;

    /// Starts or stops querying Slurm every few seconds.
    void setWatching(bool watching);
    void refresh();

    /// The result of the last query.
    const ClusterView& view() const { return view_; }
    /// Why the scheduler's state is unknown; empty if there was no error.
    const QString& problem() const { return problem_; }
    /// The array tasks that contain any of these runs and that this user submitted from this machine, each
    /// once.
    std::vector<SlurmArrayTask> arrayTasksOf(const std::vector<std::string>& runs) const;
    /// Other runs in the same array tasks as these: actions on a task affect them as well.
    std::vector<std::string> otherRunsInTasksOf(const std::vector<std::string>& runs) const;

    // These actions run one after another in another thread, each followed by a new query and `reported`.
    void cancel(const std::vector<SlurmArrayTask>& array_tasks);
    /// Has Slurm end the array tasks of these runs and start them again; runs resume at their checkpoints.
    void requeue(const std::vector<std::string>& runs);
    /// Submits those of the runs that remain to be trained (`runsToSubmit`), with the options of their last
    /// submission.
    void submit(const std::vector<std::string>& runs);

  signals:
    void changed();
    void reported(const QString& text);

  private:
    struct Outcome {
        std::optional<ClusterView> view;
        QString reported, problem;  ///< message about the action; why the query failed
    };
    /// @param work  returns a message about its result; empty function: only the query
    void start(const std::function<QString()>& work);
    void applyOutcome(Outcome outcome);

    std::filesystem::path runs_;
    ClusterView view_;
    QString problem_;
    bool busy_ = false, watching_ = false;
    std::vector<std::function<QString()>> pending_actions_;  ///< actions queued while another runs
    QTimer timer_;
};

}  // namespace roper
