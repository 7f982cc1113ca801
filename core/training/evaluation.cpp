#include "core/training/evaluation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "core/model/generation.h"
#include "core/training/batches.h"

namespace roper {
namespace {

Specification withProblemSeed(Specification specification, std::optional<std::int64_t> seed) {
    if (seed) specification.training.data_seed = *seed;
    return specification;
}

std::uint64_t dataSeed(const Specification& specification) {
    return static_cast<std::uint64_t>(specification.training.data_seed);
}

std::vector<Problem> makeProblems(const Task& task, const Specification& specification) {
    std::vector<Problem> problems;
    if (!task.hasProblems()) return problems;
    for (std::int64_t i = 0; i < specification.evaluation.problems; ++i)
        problems.push_back(
            task.problem(dataSeed(specification), Stream::problems, static_cast<std::uint64_t>(i)));
    return problems;
}

}  // namespace

Evaluator::Evaluator(const Task& task, const Specification& specification,
                     std::optional<std::int64_t> problem_seed)
    : task_(task),
      specification_(withProblemSeed(specification, problem_seed)),
      problems_(makeProblems(task, specification_)),
      overlaps_(task, dataSeed(specification), static_cast<int>(specification.training.length), problems_) {}

Evaluation Evaluator::evaluate(Transformer& model, std::int64_t step, std::uint64_t sequences_seen) {
    const at::NoGradGuard no_gradients;
    Evaluation evaluation;
    evaluation.row.step = step;
    if (!task_.hasProblems()) {
        takeRecall(model, evaluation);
        return evaluation;
    }
    takeLoss(model, evaluation);
    solve(model, evaluation);
    evaluation.row.overlaps = overlaps_.upTo(sequences_seen);
    return evaluation;
}

/// Validation sequences `first` … as tokens [count, length].
at::Tensor Evaluator::sequences(std::int64_t first, std::int64_t count, at::Device device) const {
    return makeSequences(task_, specification_, Stream::validation, static_cast<std::uint64_t>(first), count)
        .to(device);
}

void Evaluator::takeLoss(Transformer& model, Evaluation& evaluation) const {
    const at::Device device = model.parameters().front().second.device();
    evaluation.row.loss = model.loss(sequences(0, specification_.training.batch, device)).item<double>();
}

/// Loss, floor and recall over fresh sequences of a task that is judged by them.
void Evaluator::takeRecall(Transformer& model, Evaluation& evaluation) const {
    const at::Device device = model.parameters().front().second.device();
    const std::int64_t asked = specification_.evaluation.problems;
    const int length = static_cast<int>(specification_.training.length);
    double loss = 0, floor = 0;
    std::int64_t floors = 0;
    evaluation.row.recalled = evaluation.row.recallable = 0;
    for (std::int64_t first = 0; first < asked; first += specification_.training.batch) {
        const std::int64_t count = std::min(specification_.training.batch, asked - first);
        const at::Tensor tokens = sequences(first, count, device);
        const at::Tensor logits = model.forward(tokens.narrow(1, 0, length - 1));
        const at::Tensor of_each =
            at::cross_entropy_loss(logits.flatten(0, 1), tokens.narrow(1, 1, length - 1).flatten());
        loss += of_each.item<double>() * static_cast<double>(count);
        const at::Tensor likeliest = logits.argmax(-1).cpu();
        const auto guess = likeliest.accessor<std::int64_t, 2>();
        for (std::int64_t b = 0; b < count; ++b) {
            const std::vector<std::int64_t> text = task_.tokens(
                dataSeed(specification_), Stream::validation, static_cast<std::uint64_t>(first + b), length);
            std::vector<std::int64_t> guessed;
            for (std::int64_t t = 0; t + 1 < length; ++t)
                guessed.push_back(guess[b][t]);
            const auto of_sequence = task_.informationFloor(task_.vocabulary().decode(text));
            floors += of_sequence ? 1 : 0;
            floor += of_sequence.value_or(0);
            recordSequence(text, guessed, evaluation);
        }
    }
    evaluation.row.loss = loss / static_cast<double>(asked);
    if (floors == asked) evaluation.row.floor = floor / static_cast<double>(asked);
}

/// A sample is right if every letter that follows with certainty was guessed.
void Evaluator::recordSequence(const std::vector<std::int64_t>& text,
                               const std::vector<std::int64_t>& guessed, Evaluation& evaluation) const {
    const Vocabulary& vocabulary = task_.vocabulary();
    const std::vector<bool> determined = task_.determined(vocabulary.decode(text));
    bool all = true;
    for (std::size_t i = 1; i < determined.size(); ++i) {
        if (!determined[i]) continue;
        const bool right = guessed[i - 1] == text[i];
        *evaluation.row.recallable += 1;
        *evaluation.row.recalled += right ? 1 : 0;
        all = all && right;
    }
    evaluation.samples.push_back({evaluation.row.step, vocabulary.decode(text.front()),
                                  vocabulary.decode({text.begin() + 1, text.end()}),
                                  vocabulary.decode(guessed), all});
}

std::vector<std::string> Evaluator::write(Transformer& model, const std::vector<Problem>& problems,
                                          std::uint64_t seed) const {
    std::vector<std::string> prompts;
    for (const Problem& problem : problems)
        prompts.push_back(problem.prompt);
    std::vector<std::string> texts;
    for (Written& written :
         complete(model, task_.vocabulary(), prompts,
                  {task_.longestAnswer(), [this](std::string_view text) { return task_.isComplete(text); },
                   specification_.evaluation.temperature, seed}))
        texts.push_back(std::move(written.text));
    return texts;
}

void Evaluator::solve(Transformer& model, Evaluation& evaluation) const {
    // Draws differ from one evaluation to the next, as they would for a person who asks again.
    const std::uint64_t seed =
        Random(dataSeed(specification_), Stream::sampling, static_cast<std::uint64_t>(evaluation.row.step))
            .next();
    const std::vector<std::string> completions = write(model, problems_, seed);
    std::int64_t correct = 0;
    for (std::size_t i = 0; i < problems_.size(); ++i) {
        const bool right = task_.isRight(problems_[i], completions[i]);
        correct += right ? 1 : 0;
        evaluation.samples.push_back(
            {evaluation.row.step, problems_[i].prompt, problems_[i].answer, completions[i], right});
    }
    evaluation.row.correct = correct;
    evaluation.row.of = static_cast<std::int64_t>(problems_.size());
}

std::vector<SizeScore> Evaluator::evaluateBySize(Transformer& model, std::int64_t each) const {
    constexpr std::size_t kBatch = 256;
    std::vector<SizeScore> scores;
    std::vector<Problem> problems;
    std::vector<std::size_t> size_of;
    for (const ProblemSize size : task_.sizes()) {
        for (std::int64_t i = 0; i < each; ++i) {
            problems.push_back(task_.problemOfSize(dataSeed(specification_), Stream::sizes,
                                                   static_cast<std::uint64_t>(problems.size()), size));
            size_of.push_back(scores.size());
        }
        scores.push_back({size, 0, each});
    }
    for (std::size_t first = 0; first < problems.size(); first += kBatch) {
        const std::vector<Problem> part(
            problems.begin() + static_cast<std::ptrdiff_t>(first),
            problems.begin() + static_cast<std::ptrdiff_t>(std::min(first + kBatch, problems.size())));
        const std::vector<std::string> completions = write(model, part, dataSeed(specification_) + first);
        for (std::size_t i = 0; i < part.size(); ++i)
            scores[size_of[first + i]].correct += task_.isRight(part[i], completions[i]) ? 1 : 0;
    }
    return scores;
}

}  // namespace roper
