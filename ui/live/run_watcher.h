#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <optional>
#include <vector>

#include "core/runs/computation.h"
#include "core/runs/line_tail.h"
#include "core/runs/run_labels.h"

namespace roper {

/// Follows one run folder by reading what was added to its files. Where the run is trained, and by whom,
/// makes no difference. Never writes.
class RunWatcher : public QObject {
    Q_OBJECT

  public:
    RunWatcher(RunFolder folder, QObject* parent);

    const RunFolder& folder() const { return folder_; }
    QString name() const { return QString::fromStdString(folder_.name()); }

    /// Nothing as long as run.toml could not be read, later what it held when it last could; `problem` says
    /// why it cannot.
    const std::optional<Specification>& specification() const { return specification_; }
    /// What people say of it; none if they cannot be read.
    const RunLabels& labels() const { return labels_; }
    /// What has computed it; empty if it does not say.
    const std::vector<Computation>& computations() const { return computations_; }
    /// When it was made, in seconds since 1970; 0 if its specification cannot be found.
    double madeAt_s() const;

    QString problem() const {
        if (!specification_problem_.isEmpty()) return specification_problem_;
        return status_problem_.isEmpty() ? rows_problem_ : status_problem_;
    }

    /// Whether not even what it is, or how far it is, can be read.
    bool isBroken() const { return !specification_problem_.isEmpty() || !status_problem_.isEmpty(); }

    /// The end of what a trainer started by the window wrote to stderr; usually empty.
    QString messages() const;

    /// The same if it was written after the status: what a trainer said that could not write a status.
    QString finalMessages() const;

    const Status& status() const { return status_; }
    RunState state() const { return state_; }
    const std::vector<MetricsRow>& metrics() const { return metrics_; }
    const std::vector<EvaluationRow>& evaluations() const { return evaluations_; }

    /// The problems of the newest evaluation. They are read only once somebody has asked for them.
    const std::vector<Sample>& samples() const;

    /// Whether there is one that can be looked at now.
    bool hasSnapshots() const {
        const auto snapshots = folder_.snapshotsToShow();
        return snapshots && !snapshots->empty();
    }

    std::int64_t step() const;
    /// That it is to take in all.
    std::int64_t steps() const;
    double stepsPerSecond() const;
    /// Seconds until the last step at the present rate; nothing if it does not train.
    std::optional<double> secondsLeft() const;
    /// Whether its trainer is on this machine and has been suspended from outside.
    bool isSuspended() const { return is_suspended_; }

    /// Of an interrupted run: whether the system was ending processes for lack of memory when it was lost.
    bool memoryRanOut() const { return memory_ran_out_; }

    /// Since its trainer last wrote its status, by this machine's clock; 0 if it does not train, or has
    /// written lately.
    double silentSeconds() const;

    bool isActive() const { return state_ == RunState::running || state_ == RunState::paused; }

    /// Whether files hold more than the last poll read: poll again soon.
    bool isBehind() const { return behind_; }

    /// Reads what is new. Cheap when nothing is; a long file is read in parts over several calls.
    void poll();

    /// Reads status and evaluations, which are short, and leaves the rest to the next poll.
    void pollBriefly();

    /// Polls if a file has changed since the last time.
    void pollIfChanged();

  signals:
    void restarted();  ///< rows were dropped: forget what was drawn
    void metricsAdded(std::size_t first);
    void evaluationsAdded(std::size_t first);
    void samplesChanged();
    void labelsChanged();  ///< or the specification
    void statusChanged();  ///< of the trainer, or its messages

  private:
    struct Stamp {
        std::int64_t time_ns = 0, size = 0;
        bool operator==(const Stamp&) const = default;
    };
    static Stamp stampOf(const FilePath& path);

    void readSpecificationIfChanged();
    void readLabelsIfChanged();
    void readSessionsIfChanged();
    void pollEvaluations();
    void pollStatus();
    RunState observedState();
    void watchTrainer(RunState before, bool beats);
    template <class Row>
    std::optional<std::size_t> pollRows(LineTail& tail, std::vector<Row>& rows);
    void pollSamples();

    RunFolder folder_;
    std::optional<Specification> specification_;
    QString specification_problem_, status_problem_, rows_problem_;
    RunLabels labels_;
    std::vector<Computation> computations_;
    Status status_;
    RunState state_ = RunState::queued;
    QElapsedTimer last_beat_;      ///< since a heartbeat was seen that is another than before
    QElapsedTimer last_activity_;  ///< the same, or since the run was first seen to train, or was woken
    bool is_suspended_ = false, memory_ran_out_ = false;
    std::int64_t ended_for_memory_ = 0;  ///< processes on this machine, at the last heartbeat
    mutable bool behind_ = false;
    mutable bool samples_wanted_ = false;
    Stamp specification_stamp_, status_stamp_, messages_stamp_, metrics_stamp_, labels_stamp_,
        sessions_stamp_;
    LineTail metrics_tail_, evaluations_tail_, samples_tail_;
    std::vector<MetricsRow> metrics_;
    std::vector<EvaluationRow> evaluations_;
    std::vector<Sample> samples_;
};

}  // namespace roper
