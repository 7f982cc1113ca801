#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/model/transformer.h"
#include "core/runs/rows.h"
#include "core/tasks/task.h"
#include "core/training/batches.h"

namespace roper {

/// Evaluates models on the problems of a specification (`evaluation.problems` problems, fixed by a seed,
/// answered at `evaluation.temperature`) and computes the loss on validation sequences (as many as a batch).
/// A task without problems is evaluated on `evaluation.problems` sequences, each a sample: its prompt is the
/// first character, and its completion the most likely token at each position given the true preceding
/// tokens. For a text the samples are prompts that the model continues, or sequences whose masks it fills.
/// Changes nothing in a model and uses none of the random generators of training.
class Evaluator {
  public:
    /// @param problem_seed  of the problems and sequences; default: the data seed
    Evaluator(const Task& task, const Specification& specification,
              std::optional<std::int64_t> problem_seed = {});

    /// Does not set `EvaluationRow::time_s`.
    /// @param sequences_seen  number of sequences trained on, among which problems are looked for and counted
    /// as overlaps; nullopt: not counted
    Evaluation evaluate(Transformer& model, std::int64_t step, std::optional<std::uint64_t> sequences_seen);

    /// Mean loss of predicting token t + 1 over `evaluation.problems` validation sequences: one value per t
    /// of `inputLength`. @throws std::invalid_argument for a masked language model
    std::vector<double> lossByPosition(Transformer& model) const;

    /// Evaluates `per_size` problems of every size, in the order of `Task::sizes`.
    std::vector<SizeScore> evaluateBySize(Transformer& model, std::int64_t per_size) const;

  private:
    void evaluateLoss(Transformer& model, Evaluation& evaluation) const;
    void evaluateSequences(Transformer& model, Evaluation& evaluation) const;
    void evaluateTokens(Transformer& model, Evaluation& evaluation) const;
    void generateSamples(Transformer& model, Evaluation& evaluation) const;
    void fillMasks(Transformer& model, Evaluation& evaluation) const;
    /// Each sequence's loss for an ideal predictor that knows how sequences are generated.
    /// @param texts  tokens of the sequences
    std::vector<double> lossLowerBounds(const std::vector<std::vector<std::int64_t>>& texts) const;
    std::int64_t evaluatedSequences() const;  ///< number of validation sequences for the loss on a text
    /// Calls `use` with validation batches [B, T] on the device: as large as a training batch, or smaller to
    /// limit memory.
    void forEachBatch(const Transformer& model, std::int64_t sequences,
                      const std::function<void(const Batch&)>& use) const;
    void evaluateProblems(Transformer& model, Evaluation& evaluation) const;
    void recordSequence(const std::vector<std::int64_t>& text, const std::vector<std::int64_t>& predicted,
                        Evaluation& evaluation) const;
    std::vector<std::string> completionsOf(Transformer& model, const std::vector<Problem>& problems,
                                           std::uint64_t seed) const;

    const Task& task_;
    Specification specification_;  ///< with the problem seed as its data_seed
    std::vector<Problem> problems_;
    OverlapCounter overlaps_;
};

}  // namespace roper
