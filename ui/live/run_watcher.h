#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <optional>
#include <vector>

#include "core/runs/compute_environment.h"
#include "core/runs/line_tail.h"
#include "core/runs/run_folder.h"

namespace roper {

/// Follows a run folder by reading what is appended to its files, on whichever machine the run is trained.
/// Never writes.
class RunWatcher : public QObject {
    Q_OBJECT

  public:
    RunWatcher(RunFolder folder, QObject* parent);

    const RunFolder& folder() const { return folder_; }
    QString name() const { return QString::fromStdString(folder_.name()); }

    /// The specification as last read from run.toml; nothing until the first success. `problem` gives the
    /// current error.
    const std::optional<Specification>& specification() const { return specification_; }
    /// Labels given by the user; none if they cannot be read.
    const RunLabels& labels() const { return labels_; }
    /// Hardware and software that trained the run; empty if unknown.
    const std::vector<ComputeEnvironment>& computations() const { return compute_environments_; }
    /// Time of creation, seconds since 1970; 0 if the specification cannot be found.
    double createdAt_s() const;

    /// Why a file of the run cannot be read completely; empty without an error.
    QString problem() const {
        if (!specification_problem_.isEmpty()) return specification_problem_;
        return status_problem_.isEmpty() ? rows_problem_ : status_problem_;
    }

    /// Whether the specification or the status cannot be read.
    bool isBroken() const { return !specification_problem_.isEmpty() || !status_problem_.isEmpty(); }

    /// The end of stderr of a trainer started by the window; usually empty.
    QString messages() const;

    /// `messages` if newer than the status, as from a trainer that could not write a status; otherwise empty.
    QString messagesAfterStatus() const;

    const Status& status() const { return status_; }
    RunState state() const { return state_; }
    const std::vector<MetricsRow>& metrics() const { return metrics_; }
    const std::vector<EvaluationRow>& evaluations() const { return evaluations_; }

    /// Problems or prompts of the newest evaluation with the model's answers; read only after the first call.
    const std::vector<Sample>& samples() const;

    /// Whether there is a snapshot that can be shown now.
    bool hasSnapshots() const {
        const auto snapshots = folder_.snapshotsIfReadable();
        return snapshots && !snapshots->empty();
    }

    /// Number of steps done.
    std::int64_t step() const;
    /// Total number of steps of the run.
    std::int64_t steps() const;
    /// Rate over the newest rows of metrics; 0 if unknown.
    double stepsPerSecond() const;
    /// Seconds until the last step at the current rate; nothing if the run does not train.
    std::optional<double> remainingSeconds() const;
    /// Whether the run's trainer, on this machine, has been suspended by a signal.
    bool isSuspended() const { return is_suspended_; }

    /// For an interrupted run: whether the system was killing processes for lack of memory at that time.
    bool memoryRanOut() const { return memory_ran_out_; }

    /// Time since the trainer last wrote its status, by this machine's clock; 0 if the run does not train or
    /// the status is recent.
    double silentSeconds() const;

    bool isActive() const { return state_ == RunState::running || state_ == RunState::paused; }

    /// Whether files contain more than the last poll has read, so that `poll` should be called again soon.
    bool hasUnreadData() const { return has_unread_data_; }

    /// Reads new data. Cheap if there is none; long files are read in parts by several calls.
    void poll();

    /// Reads status and evaluations, which are short, and leaves the rest to the next poll.
    void pollBriefly();

    /// Polls if a file has changed since the last poll.
    void pollIfChanged();

  signals:
    void restarted();  ///< all rows are read again from index 0: discard drawn data
    /// @param first  index of the first new row
    void metricsAdded(std::size_t first);
    void evaluationsAdded(std::size_t first);
    void samplesChanged();
    void labelsChanged();  ///< labels or specification
    void statusChanged();  ///< status or messages of the trainer

  private:
    /// Modification time and size of a file, to detect changes.
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
    std::vector<ComputeEnvironment> compute_environments_;
    double first_session_s_ = 0;  ///< seconds since 1970; 0 if unknown
    Status status_;
    RunState state_ = RunState::queued;
    QElapsedTimer last_heartbeat_;  ///< since the last new heartbeat
    QElapsedTimer last_activity_;   ///< since the last heartbeat, or since training was first seen or resumed
    bool is_suspended_ = false, memory_ran_out_ = false;
    std::int64_t oom_kills_ = 0;  ///< processes killed for lack of memory, as of the last heartbeat
    mutable bool has_unread_data_ = false;
    mutable bool samples_requested_ = false;
    Stamp specification_stamp_, status_stamp_, messages_stamp_, metrics_stamp_, labels_stamp_,
        sessions_stamp_;
    LineTail metrics_tail_, evaluations_tail_, samples_tail_;
    std::vector<MetricsRow> metrics_;
    std::vector<EvaluationRow> evaluations_;
    std::vector<Sample> samples_;
};

}  // namespace roper
