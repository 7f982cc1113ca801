#pragma once

#include <QObject>
#include <QTimer>
#include <filesystem>
#include <functional>
#include <optional>

#include "core/cluster/cluster.h"

namespace roper {

/// What a scheduler has of the runs of a folder, as `sweep --slurm` has submitted them: looked at now and
/// then in another thread, since Slurm's programs may take seconds, while somebody wants to see it.
class ClusterWatch : public QObject {
    Q_OBJECT

  public:
    ClusterWatch(std::filesystem::path runs, QObject* parent);
    ~ClusterWatch() override;

    /// Whether anything of this folder was ever submitted. Known without asking the scheduler.
    bool hasSubmissions() const;

    /// Looks every few seconds from now on, or no longer.
    void setWatching(bool watching);
    void look();

    const ClusterView& view() const { return view_; }
    /// Why it cannot be known now; empty if all is well.
    const QString& problem() const { return problem_; }
    /// Slurm's elements that have these runs and that this user has submitted from here, each once.
    std::vector<SlurmElement> elementsOf(const std::vector<std::string>& runs) const;
    /// Runs that share an element of an array with some of these, and are not among them: what happens to the
    /// element happens to them.
    std::vector<std::string> othersIn(const std::vector<std::string>& runs) const;

    // Done in another thread, one after the other; then it is looked again. What came of it is `said`.
    void cancel(const std::vector<SlurmElement>& elements);
    void requeue(const std::vector<std::string>& runs);
    /// Those that are missing, with the options with which they were submitted the last time.
    void submit(const std::vector<std::string>& runs);

  signals:
    void changed();
    void said(const QString& text);

  private:
    struct Outcome {
        std::optional<ClusterView> view;
        QString said, problem;
    };
    void start(const std::function<QString()>& work);
    void take(Outcome outcome);

    std::filesystem::path runs_;
    ClusterView view_;
    QString problem_;
    bool busy_ = false, watching_ = false;
    std::vector<std::function<QString()>> waiting_;  ///< work that was wanted meanwhile
    QTimer timer_;
};

}  // namespace roper
