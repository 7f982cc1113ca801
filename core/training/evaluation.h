#pragma once

#include <optional>
#include <vector>

#include "core/model/transformer.h"
#include "core/runs/run_folder.h"
#include "core/tasks/overlap_counter.h"
#include "core/tasks/task.h"

namespace roper {

struct Evaluation {
    EvaluationRow row;  ///< without its time
    std::vector<Sample> samples;
};

/// Asks models the problems of a specification: as many as `evaluation.problems`, fixed by a seed, completed
/// at `evaluation.temperature`, and the loss on fresh sequences (as many as a batch). A task without problems
/// is asked `evaluation.problems` sequences, each a sample: its first character is the prompt, and what the
/// model thinks likeliest at each place the completion. Changes nothing of a model and draws nothing from the
/// generators of training.
class Evaluator {
  public:
    /// @param problem_seed  of the problems and sequences; the data seed unless given
    Evaluator(const Task& task, const Specification& specification,
              std::optional<std::int64_t> problem_seed = {});

    /// @param sequences_seen  of the training stream, for counting overlaps
    Evaluation evaluate(Transformer& model, std::int64_t step, std::uint64_t sequences_seen);

    /// `each` problems of every size. Sizes come in the order of `Task::sizes`.
    std::vector<SizeScore> evaluateBySize(Transformer& model, std::int64_t each) const;

  private:
    at::Tensor sequences(std::int64_t first, std::int64_t count, at::Device device) const;
    void takeLoss(Transformer& model, Evaluation& evaluation) const;
    void takeRecall(Transformer& model, Evaluation& evaluation) const;
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
