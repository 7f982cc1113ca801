#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/model/transformer.h"
#include "core/runs/run_folder.h"
#include "core/tasks/overlap_counter.h"
#include "core/tasks/task.h"
#include "core/training/batches.h"

namespace roper {

struct Evaluation {
    EvaluationRow row;  ///< without its time
    std::vector<Sample> samples;
};

/// Asks models the problems of a specification: as many as `evaluation.problems`, fixed by a seed, completed
/// at `evaluation.temperature`, and the loss on fresh sequences (as many as a batch). A task without problems
/// is asked `evaluation.problems` sequences, each a sample: its first character is the prompt, and what the
/// model thinks likeliest at each place the completion. Of a text the likeliest tokens are counted too
/// (`recalled`: those that were right, of `recallable` asked for), and samples are beginnings that the model
/// writes on, or sequences whose masks it fills in. Changes nothing of a model and draws nothing from the
/// generators of training.
class Evaluator {
  public:
    /// @param problem_seed  of the problems and sequences; the data seed unless given
    Evaluator(const Task& task, const Specification& specification,
              std::optional<std::int64_t> problem_seed = {});

    /// @param sequences_seen  of the training stream, for counting overlaps
    Evaluation evaluate(Transformer& model, std::int64_t step, std::uint64_t sequences_seen);

    /// Mean loss of predicting token t + 1, over `evaluation.problems` validation sequences: one value for
    /// each t of `inputLength`. @throws std::invalid_argument for a model of masked tokens
    std::vector<double> lossByPosition(Transformer& model) const;

    /// `each` problems of every size. Sizes come in the order of `Task::sizes`.
    std::vector<SizeScore> evaluateBySize(Transformer& model, std::int64_t each) const;

  private:
    void takeLoss(Transformer& model, Evaluation& evaluation) const;
    void takeRecall(Transformer& model, Evaluation& evaluation) const;
    void takeGuesses(Transformer& model, Evaluation& evaluation) const;
    void writeOn(Transformer& model, Evaluation& evaluation) const;
    void fillIn(Transformer& model, Evaluation& evaluation) const;
    std::int64_t sequencesAsked() const;
    /// Calls `use` with validation batches [B, T] of a training batch's size at most, already on the device.
    void forEachBatch(const Transformer& model, std::int64_t sequences,
                      const std::function<void(const Batch&)>& use) const;
    void solve(Transformer& model, Evaluation& evaluation) const;
    void recordSequence(const std::vector<std::int64_t>& text, const std::vector<std::int64_t>& guessed,
                        Evaluation& evaluation) const;
    std::vector<std::string> write(Transformer& model, const std::vector<Problem>& problems,
                                   std::uint64_t seed) const;

    const Task& task_;
    Specification specification_;  ///< data_seed is that of the problems
    std::vector<Problem> problems_;
    OverlapCounter overlaps_;
};

}  // namespace roper
