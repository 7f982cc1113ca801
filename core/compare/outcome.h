#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/compare/statistics.h"
#include "core/runs/compute_environment.h"
#include "core/runs/rows.h"
#include "core/runs/run_folder.h"

namespace roper {

/// A run as used by comparisons. It does not own the rows, which must outlive it.
struct RunRecord {
    std::string name;  ///< of its folder
    Specification specification;
    RunState state = RunState::finished;
    std::string host;  ///< machine that trained it; empty if unknown
    std::span<const MetricsRow> metrics;
    std::span<const EvaluationRow> evaluations;
    RunLabels labels = {};                              ///< labels given by users
    std::vector<ComputeEnvironment> computations = {};  ///< what computed it; empty if unknown
    double created_at_s = 0;                            ///< seconds since 1970; 0 if unknown
};

/// The compared outcome of a run.
enum class Measure {
    final_correct,         ///< problems solved at the last step
    best_correct,          ///< problems solved at the best evaluation
    final_loss,            ///< loss on fresh sequences at the last step, nats
    training_loss,         ///< mean training loss over the last tenth of the steps, nats
    final_token_accuracy,  ///< percentage of scored tokens predicted correctly, at the last step
    steps_until,           ///< first evaluated step at which a given fraction of problems was solved
    mean_correct,  ///< problems solved, mean over all evaluations, proportional to the area under the curve
    final_fully_correct,  ///< problems solved with correct working, at the last step
    step_time,            ///< median time of a step over the second half, ms
};

struct MeasureInfo {
    Measure measure;
    std::string name;   ///< on the command line: "final_correct"
    std::string title;  ///< on the screen
    std::string unit;   ///< "problems", "nats", …; `possibleRange` and `hasMeasure` depend on it
    bool higher_is_better;
    bool counts = false;  ///< whether its values are whole numbers
};
const std::vector<MeasureInfo>& measures();
const MeasureInfo& infoOf(Measure measure);

/// Whether runs with this specification can have the measure: only some tasks have problems.
bool hasMeasure(const Specification& specification, Measure measure);

/// The title with the fraction filled in: "steps until 90 % are solved".
std::string titleOf(Measure measure, double solved_fraction);

/// @throws Error (usage) for an unknown name, with the nearest known one
Measure parseMeasure(const std::string& name);

/// The usual measure of a task: problems solved, or the loss.
Measure defaultMeasure(const Specification& specification);

/// Whether a run has a value of a measure, or why not.
enum class Outcome {
    known,
    unfinished,    ///< it has not reached its last step
    not_reached,   ///< `steps_until`: it ended without reaching the target
    not_recorded,  ///< it failed, diverged or does not record this measure
};
struct OutcomeValue {
    Outcome kind = Outcome::not_recorded;
    double value = 0;  ///< in the measure's unit, if known

    /// Whether further training cannot change it.
    bool isFinal() const { return kind == Outcome::known || kind == Outcome::not_reached; }
};

/// Possible values of a measure for a run, from 0 to the number of problems or of steps, to 100 % or to
/// infinity. Displayed confidence intervals are clipped to it.
Interval possibleRange(const RunRecord& run, Measure measure);

/// Median step time in seconds over the second half of the rows, since the first steps are slower. Empty for
/// fewer than ten rows.
std::optional<double> medianStepSeconds(std::span<const MetricsRow> rows);

/// @param solved_fraction  of problems solved, for `steps_until`
OutcomeValue outcomeOf(const RunRecord& run, Measure measure, double solved_fraction = 0.9);

/// The known outcomes of the runs with the given indices, in this order.
std::vector<double> knownOutcomes(std::span<const RunRecord> runs, const std::vector<std::size_t>& members,
                                  Measure measure, double solved_fraction = 0.9);

/// All runs in a folder, read once, with their rows.
class RunTable {
  public:
    /// @param with_metrics  whether metrics.csv is also read; evaluations always are
    explicit RunTable(const std::filesystem::path& runs, bool with_metrics = true);
    explicit RunTable(std::span<const RunFolder> runs, bool with_metrics = true);

    const std::vector<RunRecord>& records() const { return records_; }
    /// Folders that cannot be read, each with the reason.
    const std::vector<std::string>& problems() const { return problems_; }

  private:
    struct Rows {
        std::vector<MetricsRow> metrics;
        std::vector<EvaluationRow> evaluations;
    };
    std::vector<std::unique_ptr<Rows>> rows_;
    std::vector<RunRecord> records_;
    std::vector<std::string> problems_;
};

/// Compares RoPE's and RoPER's runs of the same seed in one sentence: during training, problems solved at the
/// newest step evaluated by both; after both have ended, which was first to solve a given fraction.
/// @param solved_fraction  of the problems of an evaluation, in (0, 1]
std::string twinSentence(const RunRecord& rope, const RunRecord& roper, double solved_fraction);

}  // namespace roper
