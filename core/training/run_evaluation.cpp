#include "core/training/run_evaluation.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "core/base/available.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/operators/translate_errors.h"
#include "core/specification/cost.h"
#include "core/training/evaluation.h"
#include "core/training/loaded_model.h"

namespace roper {
namespace {

/// Loads a model for sequences of the given length and scaling.
LoadedModel loadToEvaluate(const RunFolder& folder, const ReadingOptions& options,
                           const EvaluationOptions& at) {
    LoadedModel loaded = loadModel(folder, options, /*for_evaluation=*/true);
    Specification read_at = loaded.specification;
    read_at.evaluation.problems = at.problems;
    if (at.temperature) read_at.evaluation.temperature = *at.temperature;
    if (at.length) read_at.training.length = *at.length;
    // For a text, every length covers the same part of the text, with as many tokens per batch as in
    // training.
    const auto asManyTokens = [&](std::int64_t sequences) {
        return std::max<std::int64_t>(1, sequences * loaded.specification.training.length / *at.length);
    };
    if (read_at.task.isText() && at.length) {
        read_at.training.batch = asManyTokens(read_at.training.batch);
        read_at.evaluation.problems = asManyTokens(read_at.evaluation.problems);
    }
    const std::optional<double> available = availableMemory();
    if (const auto problem = available ? evaluationProblem(read_at, *available) : std::nullopt)
        throw Error(ErrorKind::memory, *problem);
    constexpr double kSlowFlop = 1e13;  // minutes on a CPU
    constexpr double kPasses = 3;       // a step is a forward and a backward pass, which takes twice as long
    const double flop = costOf(read_at).flop_per_step / kPasses;
    if (flop > kSlowFlop && options.note)
        options.note("computing a loss on " + std::to_string(read_at.training.batch) + " sequences of " +
                     std::to_string(read_at.training.length) + " tokens takes about " +
                     formatWithUnit(flop / 1e12, {"TFLOP", "PFLOP", "EFLOP"}) + ", minutes or more");
    rescale(loaded, at.scaling, read_at.inputLength());
    loaded.specification = read_at;
    return loaded;
}

/// Number of training sequences to generate again in order to look for the problems in them; nullopt if they
/// had another length or are too many, since a checkpoint may state any number.
std::optional<std::uint64_t> sequencesToCompare(const LoadedModel& loaded, const ReadingOptions& options,
                                                const EvaluationOptions& at) {
    constexpr std::uint64_t kMaxTokens = 1'000'000'000;
    if (at.length || !loaded.specification.task.hasProblems()) return std::nullopt;
    if (loaded.sequences_seen <=
        kMaxTokens / static_cast<std::uint64_t>(loaded.specification.training.length))
        return loaded.sequences_seen;
    if (options.note)
        options.note("not counted: how many of the problems occurred in training, in " +
                     std::to_string(loaded.sequences_seen) + " sequences");
    return std::nullopt;
}

}  // namespace

RunEvaluation evaluateRun(const RunFolder& folder, const ReadingOptions& options,
                          const EvaluationOptions& at) {
    return translateErrors([&] {
        LoadedModel loaded = loadToEvaluate(folder, options, at);
        Evaluator evaluator(*loaded.task, loaded.specification, at.seed);
        Evaluation evaluation =
            evaluator.evaluate(*loaded.model, loaded.step, sequencesToCompare(loaded, options, at));
        return RunEvaluation{evaluation.row, std::move(evaluation.samples)};
    });
}

PositionLosses lossByPosition(const RunFolder& folder, const ReadingOptions& options,
                              const EvaluationOptions& at) {
    return translateErrors([&] {
        LoadedModel loaded = loadToEvaluate(folder, options, at);
        const Evaluator evaluator(*loaded.task, loaded.specification, at.seed);
        return PositionLosses{loaded.step, loaded.specification.training.length,
                              evaluator.lossByPosition(*loaded.model)};
    });
}

SizeScores evaluateRunBySize(const RunFolder& folder, const ReadingOptions& options,
                             const EvaluationOptions& at) {
    return translateErrors([&] {
        const at::NoGradGuard no_gradients;
        LoadedModel loaded = loadModel(folder, options);
        if (!loaded.specification.task.hasProblems())
            throw Error(ErrorKind::usage,
                        "the " + loaded.specification.task.name + " task has no problems of different sizes");
        if (at.largest) {
            TaskSettings& task = loaded.specification.task;
            task.specific_settings.set(task.kind().length_settings.back(), *at.largest);
            loaded.task = makeTask(loaded.specification.task);
        }
        rescale(loaded, at.scaling, loaded.task->maxProblemLength());
        const std::vector<std::string> names = loaded.task->sizeNames();
        constexpr std::int64_t kMaxProblems = 200000;
        const std::int64_t sizes = loaded.task->sizeCount();
        if (sizes * at.problems > kMaxProblems)
            throw Error(ErrorKind::usage, std::to_string(at.problems) + " problems of each of " +
                                              std::to_string(sizes) + " sizes are too many; at most " +
                                              std::to_string(kMaxProblems) + " in total");
        if (at.temperature) loaded.specification.evaluation.temperature = *at.temperature;
        const Evaluator evaluator(*loaded.task, loaded.specification, at.seed);
        return SizeScores{loaded.step, at.scaling, names,
                          evaluator.evaluateBySize(*loaded.model, at.problems)};
    });
}

}  // namespace roper
