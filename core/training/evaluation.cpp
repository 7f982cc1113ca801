#include "core/training/evaluation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "core/model/generation.h"
#include "core/training/batches.h"

namespace roper {
namespace {

/// Mean loss, and mean information floor where the task knows one, over fresh sequences.
void takeLoss(Transformer& model, const Task& task, const Specification& specification,
              std::int64_t sequences, EvaluationRow& row) {
    const at::Device device = model.parameters().front().second.device();
    double loss = 0;
    for (std::int64_t first = 0; first < sequences; first += specification.training.batch) {
        const std::int64_t count = std::min(specification.training.batch, sequences - first);
        const at::Tensor tokens =
            makeSequences(task, specification, Stream::validation, static_cast<std::uint64_t>(first), count);
        loss += model.loss(tokens.to(device)).item<double>() * static_cast<double>(count);
    }
    row.loss = loss / static_cast<double>(sequences);

    double floor = 0;
    for (std::int64_t i = 0; i < sequences; ++i) {
        const auto of_sequence = task.informationFloor(
            task.sequence(static_cast<std::uint64_t>(specification.training.data_seed), Stream::validation,
                          static_cast<std::uint64_t>(i), static_cast<int>(specification.training.length)));
        if (!of_sequence) return;
        floor += *of_sequence;
    }
    row.floor = floor / static_cast<double>(sequences);
}

}  // namespace

Evaluation evaluate(Transformer& model, const Task& task, const Specification& specification,
                    std::int64_t step) {
    const at::NoGradGuard no_gradients;
    Evaluation evaluation;
    evaluation.row.step = step;
    const std::int64_t asked = specification.evaluation.problems;
    takeLoss(model, task, specification, task.hasProblems() ? specification.training.batch : asked,
             evaluation.row);
    if (!task.hasProblems()) return evaluation;

    std::vector<Problem> problems;
    std::vector<std::string> prompts;
    for (std::int64_t i = 0; i < asked; ++i) {
        problems.push_back(task.problem(static_cast<std::uint64_t>(specification.training.data_seed),
                                        Stream::problems, static_cast<std::uint64_t>(i)));
        prompts.push_back(problems.back().prompt);
    }
    const std::vector<std::string> completions =
        completeGreedily(model, task.vocabulary(), prompts, task.longestAnswer(),
                         [&](std::string_view written) { return task.isComplete(written); });
    std::int64_t correct = 0;
    for (std::size_t i = 0; i < problems.size(); ++i) {
        const bool right = task.isRight(problems[i], completions[i]);
        correct += right ? 1 : 0;
        evaluation.samples.push_back({step, problems[i].prompt, problems[i].answer, completions[i], right});
    }
    evaluation.row.correct = correct;
    evaluation.row.of = asked;
    return evaluation;
}

}  // namespace roper
