#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/runs/computation.h"
#include "core/runs/rows.h"
#include "core/runs/run_labels.h"

namespace roper {

/// A run as comparisons see it. The rows belong to someone else and must outlive it.
struct RunRecord {
    std::string name;
    Specification specification;
    RunState state = RunState::finished;
    std::string host;  ///< where it was trained; empty if not known
    std::span<const MetricsRow> metrics;
    std::span<const EvaluationRow> evaluations;
    RunLabels labels = {};                       ///< what people say of it
    std::vector<Computation> computations = {};  ///< what computed it; empty if it does not say
};

/// What of a run is compared.
enum class Measure {
    final_correct,         ///< problems solved at the last step
    best_correct,          ///< problems solved at the best evaluation
    final_loss,            ///< loss on fresh sequences at the last step, nats
    training_loss,         ///< mean training loss of the last tenth, nats
    final_token_accuracy,  ///< of scored tokens, at the last step
    steps_until,           ///< first evaluated step at which a share of problems was solved
    mean_correct,          ///< problems solved, mean over all evaluations, as the area under the curve
    final_fully_correct,   ///< problems solved with all their working right, at the last step
    step_time,             ///< median time of a step over the second half, ms
};

struct MeasureInfo {
    Measure measure;
    std::string name;   ///< on the command line: "final_correct"
    std::string title;  ///< on the screen
    std::string unit;   ///< of a difference: "problems", "nats", …
    bool more_is_better;
};
const std::vector<MeasureInfo>& measures();
const MeasureInfo& infoOf(Measure measure);

/// Whether runs of this kind have such a measure at all: problems are solved only by tasks that have some.
bool hasMeasure(const Specification& specification, Measure measure);

/// The title with the share in its place: "steps until 90 % are solved".
std::string titleOf(Measure measure, double share);

/// @throws Error (usage) for an unknown name, with the nearest known one
Measure measureOf(const std::string& name);

/// What most suits a task: problems solved, or the loss.
Measure defaultMeasure(const Specification& specification);

/// Why a run has no value of a measure.
enum class Outcome {
    known,
    unfinished,  ///< it has not done its last step
    never,       ///< `steps_until`: it ended without getting there
    missing,     ///< it does not measure such a thing, or diverged
};
struct OutcomeValue {
    Outcome kind = Outcome::missing;
    double value = 0;  ///< only where known

    /// Whether nothing that is still to come can change it.
    bool isSettled() const { return kind == Outcome::known || kind == Outcome::never; }
};

/// The values that a measure can have for a run: no fewer than 0 problems and no more than there are, no
/// negative loss, no step after the last. An interval of a mean that reaches beyond says nothing there.
struct PossibleRange {
    double least = 0, greatest = 0;  ///< infinite where there is no bound
};
PossibleRange possibleRange(const RunRecord& run, Measure measure);

/// Median time of a step over a run's second half, in seconds: the first steps are slower. Nothing for a few
/// rows.
std::optional<double> stepSeconds(std::span<const MetricsRow> rows);

/// @param share  of problems solved, for `steps_until`
OutcomeValue outcomeOf(const RunRecord& run, Measure measure, double share = 0.9);

}  // namespace roper
