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
LoadedModel loadToEvaluate(const RunFolder& folder, const ModelLoadOptions& options,
                           const EvaluationOptions& settings) {
    LoadedModel loaded = loadModel(folder, options, /*for_evaluation=*/true);
    Specification evaluated = loaded.specification;
    evaluated.evaluation.problems = settings.problems;
    if (settings.temperature) evaluated.evaluation.temperature = *settings.temperature;
    if (settings.length) evaluated.training.length = *settings.length;
    // For a text, every length covers the same part of the text, with as many tokens per batch as in
    // training.
    const auto asManyTokens = [&](std::int64_t sequences) {
        return std::max<std::int64_t>(1, sequences * loaded.specification.training.length / *settings.length);
    };
    if (evaluated.task.isText() && settings.length) {
        evaluated.training.batch = asManyTokens(evaluated.training.batch);
        evaluated.evaluation.problems = asManyTokens(evaluated.evaluation.problems);
    }
    const std::optional<double> available = availableMemory();
    if (const auto problem = available ? evaluationProblem(evaluated, *available) : std::nullopt)
        throw Error(ErrorKind::memory, *problem);
    constexpr double kSlowFlop = 1e13;  // minutes on a CPU
    constexpr double kPasses = 3;       // a step is a forward and a backward pass, which takes twice as long
    const double flop = costOf(evaluated).flop_per_step / kPasses;
    if (flop > kSlowFlop && options.note)
        options.note("computing a loss on " + std::to_string(evaluated.training.batch) + " sequences of " +
                     std::to_string(evaluated.training.length) + " tokens takes about " +
                     formatWithUnit(flop / 1e12, {"TFLOP", "PFLOP", "EFLOP"}) + ", minutes or more");
    rescale(loaded, settings.scaling, evaluated.inputLength());
    loaded.specification = evaluated;
    return loaded;
}

/// Number of training sequences to generate again in order to look for the problems in them; nullopt if they
/// had another length or are too many, since a checkpoint may state any number.
std::optional<std::uint64_t> sequencesToCompare(const LoadedModel& loaded, const ModelLoadOptions& options,
                                                const EvaluationOptions& settings) {
    constexpr std::uint64_t kMaxTokens = 1'000'000'000;
    if (settings.length || !loaded.specification.task.hasProblems()) return std::nullopt;
    if (loaded.sequences_seen <=
        kMaxTokens / static_cast<std::uint64_t>(loaded.specification.training.length))
        return loaded.sequences_seen;
    if (options.note)
        options.note("not counted: how many of the problems occurred in training, in " +
                     std::to_string(loaded.sequences_seen) + " sequences");
    return std::nullopt;
}

}  // namespace

Evaluation evaluateRun(const RunFolder& folder, const ModelLoadOptions& options,
                       const EvaluationOptions& settings) {
    return translateErrors([&] {
        LoadedModel loaded = loadToEvaluate(folder, options, settings);
        Evaluator evaluator(*loaded.task, loaded.specification, settings.seed);
        return evaluator.evaluate(*loaded.model, loaded.step, sequencesToCompare(loaded, options, settings));
    });
}

PositionLosses lossByPosition(const RunFolder& folder, const ModelLoadOptions& options,
                              const EvaluationOptions& settings) {
    return translateErrors([&] {
        LoadedModel loaded = loadToEvaluate(folder, options, settings);
        const Evaluator evaluator(*loaded.task, loaded.specification, settings.seed);
        return PositionLosses{loaded.step, loaded.specification.training.length,
                              evaluator.lossByPosition(*loaded.model)};
    });
}

SizeScores evaluateRunBySize(const RunFolder& folder, const ModelLoadOptions& options,
                             const EvaluationOptions& settings) {
    return translateErrors([&] {
        const at::NoGradGuard no_gradients;
        LoadedModel loaded = loadModel(folder, options);
        if (!loaded.specification.task.hasProblems())
            throw Error(ErrorKind::usage,
                        "the " + loaded.specification.task.name + " task has no problems of different sizes");
        if (settings.largest) {
            TaskSettings& task = loaded.specification.task;
            task.specific_settings.set(task.kind().length_settings.back(), *settings.largest);
            loaded.task = makeTask(loaded.specification.task);
        }
        rescale(loaded, settings.scaling, loaded.task->maxProblemLength());
        const std::vector<std::string> names = loaded.task->sizeNames();
        constexpr std::int64_t kMaxProblems = 200000;
        const std::int64_t sizes = loaded.task->sizeCount();
        if (sizes * settings.problems > kMaxProblems)
            throw Error(ErrorKind::usage, std::to_string(settings.problems) + " problems of each of " +
                                              std::to_string(sizes) + " sizes are too many; at most " +
                                              std::to_string(kMaxProblems) + " in total");
        if (settings.temperature) loaded.specification.evaluation.temperature = *settings.temperature;
        const Evaluator evaluator(*loaded.task, loaded.specification, settings.seed);
        return SizeScores{loaded.step, settings.scaling, names,
                          evaluator.evaluateBySize(*loaded.model, settings.problems)};
    });
}

}  // namespace roper
