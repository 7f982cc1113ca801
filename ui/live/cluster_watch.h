#pragma once

#include <QObject>
#include <QTimer>
#include <filesystem>
#include <functional>
#include <optional>

#include "core/cluster/cluster.h"

namespace roper {

/// The scheduler's view of the runs of a folder that `sweep --slurm` submitted. Queried periodically in
/// another thread, since Slurm's programs may take seconds, and only while a widget shows it.
class ClusterWatch : public QObject {
    Q_OBJECT

  public:
    ClusterWatch(std::filesystem::path runs, QObject* parent);

    /// Whether any run of this folder was ever submitted; does not query the scheduler.
    bool hasSubmissions() const;

    /// Starts or stops querying every few seconds.
    void setWatching(bool watching);
    void refresh();

    const ClusterView& view() const { return view_; }
    /// Why the state is unknown; empty without an error.
    const QString& problem() const { return problem_; }
    /// Slurm array elements with these runs that this user submitted from here, each once.
    std::vector<SlurmArrayTask> arrayTasksOf(const std::vector<std::string>& runs) const;
    /// Other runs in the same array elements as these: actions on an element affect them as well.
    std::vector<std::string> otherRunsInTasksOf(const std::vector<std::string>& runs) const;

    // Run one after another in another thread, followed by a new query; `reported` reports the result.
    void cancel(const std::vector<SlurmArrayTask>& array_tasks);
    void requeue(const std::vector<std::string>& runs);
    /// Submits the missing runs with the options of their last submission.
    void submit(const std::vector<std::string>& runs);

  signals:
    void changed();
    void reported(const QString& text);

  private:
    struct Outcome {
        std::optional<ClusterView> view;
        QString reported, problem;
    };
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
