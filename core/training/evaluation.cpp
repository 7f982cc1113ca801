#include "core/training/evaluation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>

#include "core/model/generation.h"
#include "core/specification/cost.h"

namespace roper {
namespace {

constexpr std::int64_t kSamples = 8;  // recorded per evaluation of a text task

Specification withProblemSeed(Specification specification, std::optional<std::int64_t> seed) {
    if (seed) specification.training.data_seed = *seed;
    return specification;
}

std::uint64_t dataSeed(const Specification& specification) {
    return static_cast<std::uint64_t>(specification.training.data_seed);
}

/// A different seed of sampling for each evaluation.
std::uint64_t samplingSeed(const Specification& specification, std::int64_t step) {
    return Random(dataSeed(specification), Stream::sampling, static_cast<std::uint64_t>(step)).next();
}

std::vector<Problem> makeProblems(const Task& task, const Specification& specification) {
    std::vector<Problem> problems;
    if (!task.hasProblems()) return problems;
    for (std::int64_t i = 0; i < specification.evaluation.problems; ++i)
        problems.push_back(
            task.problem(dataSeed(specification), Stream::problems, static_cast<std::uint64_t>(i)));
    return problems;
}

/// The sequences of a causal batch: each consists of its first input and all targets.
std::vector<std::vector<std::int64_t>> textsOf(const Batch& batch) {
    const at::Tensor inputs = batch.inputs.cpu(), targets = batch.targets.cpu();
    const auto shown = inputs.accessor<std::int64_t, 2>(), target_ids = targets.accessor<std::int64_t, 2>();
    std::vector<std::vector<std::int64_t>> texts;
    for (std::int64_t b = 0; b < inputs.size(0); ++b) {
        std::vector<std::int64_t> text = {shown[b][0]};
        for (std::int64_t t = 0; t < targets.size(1); ++t)
            text.push_back(target_ids[b][t]);
        texts.push_back(std::move(text));
    }
    return texts;
}

}  // namespace

Evaluator::Evaluator(const Task& task, const Specification& specification,
                     std::optional<std::int64_t> problem_seed)
    : task_(task),
      specification_(withProblemSeed(specification, problem_seed)),
      problems_(makeProblems(task, specification_)),
      overlaps_(task, dataSeed(specification), static_cast<int>(specification.training.length), problems_) {}

Evaluation Evaluator::evaluate(Transformer& model, std::int64_t step,
                               std::optional<std::uint64_t> sequences_seen) {
    const at::NoGradGuard no_gradients;
    Evaluation evaluation;
    evaluation.row.step = step;
    if (task_.isOpenEnded()) {
        evaluateTokens(model, evaluation);
        if (model.causal())
            generateSamples(model, evaluation);
        else
            fillMasks(model, evaluation);
        return evaluation;
    }
    if (!task_.hasProblems()) {
        evaluateSequences(model, evaluation);
        return evaluation;
    }
    evaluateLoss(model, evaluation);
    evaluateProblems(model, evaluation);
    if (sequences_seen) evaluation.row.overlaps = overlaps_.countInFirst(*sequences_seen);
    return evaluation;
}

void Evaluator::evaluateLoss(Transformer& model, Evaluation& evaluation) const {
    double mean = 0, scored = 0;
    std::vector<double> bounds;
    forEachBatch(model, specification_.training.batch, [&](const Batch& batch) {
        const double loss = model.loss(batch.inputs, batch.targets, /*training=*/false).item<double>();
        const auto count = static_cast<double>(batch.targets.ne(kIgnoreIndex).sum().item<std::int64_t>());
        scored += count;
        mean += (loss - mean) * (count / scored);  // exact if there is only one batch
        if (!model.causal()) return;
        const std::vector<double> of_batch = lossLowerBounds(textsOf(batch));
        bounds.insert(bounds.end(), of_batch.begin(), of_batch.end());
    });
    evaluation.row.loss = mean;
    if (!model.causal()) return;
    evaluation.row.loss_lower_bound =
        std::accumulate(bounds.begin(), bounds.end(), 0.0) / static_cast<double>(bounds.size());
}

std::vector<double> Evaluator::lossLowerBounds(const std::vector<std::vector<std::int64_t>>& texts) const {
    std::vector<double> bounds;
    for (const std::vector<std::int64_t>& text : texts)
        if (const auto bound = task_.lossLowerBound(task_.vocabulary().decode(text)))
            bounds.push_back(*bound);
    return bounds;
}

std::int64_t Evaluator::evaluatedSequences() const {
    const int length = static_cast<int>(specification_.training.length);
    // At least 1, so that Task::tokens throws for a text that is too short.
    return std::clamp(task_.validationSequences(length), std::int64_t{1}, specification_.evaluation.problems);
}

void Evaluator::forEachBatch(const Transformer& model, std::int64_t sequences,
                             const std::function<void(const Batch&)>& use) const {
    const at::Device device = model.parameters().front().second.device();
    const std::int64_t at_once = sequencesPerBatch(specification_);
    for (std::int64_t first = 0; first < sequences; first += at_once) {
        const std::int64_t count = std::min(at_once, sequences - first);
        const Batch batch =
            makeBatch(task_, specification_, Stream::validation, static_cast<std::uint64_t>(first), count);
        use({batch.inputs.to(device), batch.targets.to(device)});
    }
}

/// Loss over the scored tokens, and the number of correct predictions.
void Evaluator::evaluateTokens(Transformer& model, Evaluation& evaluation) const {
    double loss = 0;
    std::int64_t scored = 0, correct = 0;
    forEachBatch(model, evaluatedSequences(), [&](const Batch& batch) {
        const at::Tensor logits = model.forward(batch.inputs).flatten(0, 1),
                         targets = batch.targets.flatten();
        loss += at::cross_entropy_loss(logits, targets, {}, at::Reduction::Sum, kIgnoreIndex).item<double>();
        scored += targets.ne(kIgnoreIndex).sum().item<std::int64_t>();
        correct += logits.argmax(-1).eq(targets).sum().item<std::int64_t>();
    });
    evaluation.row.loss = loss / static_cast<double>(scored);
    evaluation.row.tokens_correct = correct;
    evaluation.row.tokens_scored = scored;
}

/// Records prompts from validation sequences with the model's continuations.
void Evaluator::generateSamples(Transformer& model, Evaluation& evaluation) const {
    constexpr std::int64_t kMaxPromptTokens = 32, kMaxContinuationTokens = 64;
    const Vocabulary& vocabulary = task_.vocabulary();
    const std::int64_t length = specification_.training.length,
                       prompt = std::min(kMaxPromptTokens, length / 2),
                       end = std::min(kMaxContinuationTokens, length - prompt);
    std::vector<std::vector<std::int64_t>> prompts;
    std::vector<std::string> ends;
    for (std::int64_t i = 0; i < std::min(kSamples, evaluatedSequences()); ++i) {
        const std::vector<std::int64_t> text =
            task_.tokens(dataSeed(specification_), Stream::validation, static_cast<std::uint64_t>(i),
                         static_cast<int>(prompt + end));
        prompts.emplace_back(text.begin(), text.begin() + prompt);
        ends.push_back(vocabulary.decode({text.begin() + prompt, text.end()}));
    }
    const GenerationOptions options{static_cast<int>(end),
                                    {},
                                    specification_.evaluation.temperature,
                                    samplingSeed(specification_, evaluation.row.step)};
    const std::vector<Completion> completions = generate(model, vocabulary, prompts, options);
    for (std::size_t i = 0; i < completions.size(); ++i)
        evaluation.samples.push_back(
            {evaluation.row.step, vocabulary.decode(prompts[i]), ends[i], completions[i].text});
}

/// Records validation sequences with masks, and with the masks replaced by the model's most likely tokens.
void Evaluator::fillMasks(Transformer& model, Evaluation& evaluation) const {
    const Vocabulary& vocabulary = task_.vocabulary();
    forEachBatch(model, std::min(kSamples, evaluatedSequences()), [&](const Batch& batch) {
        const at::Tensor inputs = batch.inputs.cpu(), targets = batch.targets.cpu(),
                         likeliest = model.forward(batch.inputs).argmax(-1).cpu();
        const auto shown = inputs.accessor<std::int64_t, 2>(),
                   target_ids = targets.accessor<std::int64_t, 2>(),
                   likeliest_of = likeliest.accessor<std::int64_t, 2>();
        for (std::int64_t b = 0; b < shown.size(0); ++b) {
            Sample sample{evaluation.row.step, "", "", ""};
            for (std::int64_t t = 0; t < shown.size(1); ++t) {
                const bool is_scored = target_ids[b][t] != kIgnoreIndex;
                const auto textOf = [&](std::int64_t token) {
                    if (token == vocabulary.size()) return std::string("[MASK]");
                    return vocabulary.decode(token);
                };
                sample.prompt += textOf(shown[b][t]);
                sample.expected += textOf(is_scored ? target_ids[b][t] : shown[b][t]);
                const std::string completed = textOf(is_scored ? likeliest_of[b][t] : shown[b][t]);
                if (is_scored)
                    sample.predicted.insert(sample.predicted.end(),
                                            {std::ssize(sample.completion), std::ssize(completed),
                                             likeliest_of[b][t] == target_ids[b][t] ? 1 : 0});
                sample.completion += completed;
            }
            evaluation.samples.push_back(std::move(sample));
        }
    });
}

std::vector<double> Evaluator::lossByPosition(Transformer& model) const {
    if (!model.causal())
        throw std::invalid_argument(
            "a masked language model sees both sides of every position; compare its "
            "loss across sequence lengths instead (--length)");
    const at::NoGradGuard no_gradients;
    const std::int64_t count = evaluatedSequences(), T = specification_.inputLength();
    at::Tensor sums = at::zeros({T}, at::kDouble);
    forEachBatch(model, count, [&](const Batch& batch) {
        const at::Tensor loss = at::cross_entropy_loss(model.forward(batch.inputs).flatten(0, 1),
                                                       batch.targets.flatten(), {}, at::Reduction::None)
                                    .view(batch.targets.sizes());
        sums += loss.to(at::kCPU, at::kDouble).sum(0);
    });
    sums = sums / static_cast<double>(count);
    const auto values = sums.accessor<double, 1>();
    std::vector<double> losses;
    for (std::int64_t t = 0; t < T; ++t)
        losses.push_back(values[t]);
    return losses;
}

/// Loss, its lower bound and token accuracy on validation sequences, for a task without problems.
void Evaluator::evaluateSequences(Transformer& model, Evaluation& evaluation) const {
    const std::int64_t sequences = specification_.evaluation.problems;
    double loss = 0, lower_bound = 0;
    evaluation.row.tokens_correct = evaluation.row.tokens_scored = 0;
    forEachBatch(model, sequences, [&](const Batch& batch) {
        const at::Tensor logits = model.forward(batch.inputs);
        const std::int64_t count = batch.inputs.size(0);
        loss += at::cross_entropy_loss(logits.flatten(0, 1), batch.targets.flatten()).item<double>() *
                static_cast<double>(count);
        const at::Tensor likeliest = logits.argmax(-1).cpu();
        const auto likeliest_of = likeliest.accessor<std::int64_t, 2>();
        const std::vector<std::vector<std::int64_t>> texts = textsOf(batch);
        for (std::int64_t b = 0; b < count; ++b) {
            std::vector<std::int64_t> predicted;
            for (std::int64_t t = 0; t < likeliest.size(1); ++t)
                predicted.push_back(likeliest_of[b][t]);
            recordSequence(texts[static_cast<std::size_t>(b)], predicted, evaluation);
        }
        for (const double bound : lossLowerBounds(texts))
            lower_bound += bound;
    });
    evaluation.row.loss = loss / static_cast<double>(sequences);
    evaluation.row.loss_lower_bound = lower_bound / static_cast<double>(sequences);
}

/// A sample is correct if every letter determined by the preceding ones was predicted.
void Evaluator::recordSequence(const std::vector<std::int64_t>& text,
                               const std::vector<std::int64_t>& predicted, Evaluation& evaluation) const {
    const Vocabulary& vocabulary = task_.vocabulary();
    const std::vector<bool> determined = task_.determined(vocabulary.decode(text));
    bool all = true;
    for (std::size_t i = 1; i < determined.size(); ++i) {
        if (!determined[i]) continue;
        const bool is_correct = predicted[i - 1] == text[i];
        *evaluation.row.tokens_scored += 1;
        *evaluation.row.tokens_correct += is_correct ? 1 : 0;
        all = all && is_correct;
    }
    evaluation.samples.push_back({evaluation.row.step, vocabulary.decode(text.front()),
                                  vocabulary.decode({text.begin() + 1, text.end()}),
                                  vocabulary.decode(predicted), all});
}

std::vector<std::string> Evaluator::completionsOf(Transformer& model, const std::vector<Problem>& problems,
                                                  std::uint64_t seed) const {
    std::size_t longest = 0;
    for (const Problem& problem : problems)
        longest = std::max(longest, problem.prompt.size());
    const auto at_once = static_cast<std::size_t>(
        problemsPerBatch(specification_, static_cast<std::int64_t>(longest) + task_.maxAnswerLength()));
    GenerationOptions options{task_.maxAnswerLength(),
                              [this](std::string_view text) { return task_.isComplete(text); },
                              specification_.evaluation.temperature, seed};
    std::vector<std::string> texts, prompts;
    for (std::size_t first = 0; first < problems.size(); first += at_once) {
        prompts.clear();
        for (std::size_t i = first; i < std::min(problems.size(), first + at_once); ++i)
            prompts.push_back(problems[i].prompt);
        options.first_prompt = first;
        for (Completion& completion : generate(model, task_.vocabulary(), prompts, options))
            texts.push_back(std::move(completion.text));
    }
    return texts;
}

void Evaluator::evaluateProblems(Transformer& model, Evaluation& evaluation) const {
    const std::vector<std::string> completions =
        completionsOf(model, problems_, samplingSeed(specification_, evaluation.row.step));
    std::int64_t correct = 0;
    std::optional<std::int64_t> fully_correct;
    for (std::size_t i = 0; i < problems_.size(); ++i) {
        const bool is_right = task_.isCorrect(problems_[i], completions[i]);
        const auto is_fully_correct = task_.isFullyCorrect(problems_[i], completions[i]);
        correct += is_right ? 1 : 0;
        if (is_fully_correct) fully_correct = fully_correct.value_or(0) + (*is_fully_correct ? 1 : 0);
        evaluation.samples.push_back({evaluation.row.step,
                                      problems_[i].prompt,
                                      problems_[i].answer,
                                      completions[i],
                                      is_right,
                                      {},
                                      is_fully_correct});
    }
    evaluation.row.fully_correct = fully_correct;
    evaluation.row.correct = correct;
    evaluation.row.total = static_cast<std::int64_t>(problems_.size());
}

std::vector<SizeScore> Evaluator::evaluateBySize(Transformer& model, std::int64_t per_size) const {
    constexpr std::size_t kBatch = 256;
    std::vector<SizeScore> scores;
    std::vector<Problem> problems;
    std::vector<std::size_t> size_of;
    for (const ProblemSize size : task_.sizes()) {
        for (std::int64_t i = 0; i < per_size; ++i) {
            problems.push_back(task_.problemOfSize(dataSeed(specification_), Stream::sizes,
                                                   static_cast<std::uint64_t>(problems.size()), size));
            size_of.push_back(scores.size());
        }
        scores.push_back({size, 0, per_size});
    }
    for (std::size_t first = 0; first < problems.size(); first += kBatch) {
        const std::vector<Problem> part(
            problems.begin() + static_cast<std::ptrdiff_t>(first),
            problems.begin() + static_cast<std::ptrdiff_t>(std::min(first + kBatch, problems.size())));
        const std::vector<std::string> completions =
            completionsOf(model, part, dataSeed(specification_) + first);
        for (std::size_t i = 0; i < part.size(); ++i) {
            SizeScore& score = scores[size_of[first + i]];
            score.correct += task_.isCorrect(part[i], completions[i]) ? 1 : 0;
            if (const auto is_fully_correct = task_.isFullyCorrect(part[i], completions[i]))
                score.fully_correct = score.fully_correct.value_or(0) + (*is_fully_correct ? 1 : 0);
        }
    }
    return scores;
}

}  // namespace roper
