#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "core/training/evaluation.h"
#include "core/training/loaded_model.h"
#include "core/training/session.h"

namespace roper {
namespace {

/// A model that reads sequences as long, and with frequencies scaled, as was asked for.
LoadedModel loadToEvaluate(const RunFolder& folder, const ReadingOptions& options,
                           const EvaluationOptions& asked) {
    LoadedModel loaded = loadModel(folder, options, /*to_evaluate=*/true);
    Specification read_at = loaded.specification;
    read_at.evaluation.problems = asked.problems;
    if (asked.temperature) read_at.evaluation.temperature = *asked.temperature;
    if (asked.length) read_at.training.length = *asked.length;
    // Of a text every length reads the same stretch, with as many tokens at a time as training did.
    const auto asManyTokens = [&](std::int64_t sequences) {
        return std::max<std::int64_t>(1, sequences * loaded.specification.training.length / *asked.length);
    };
    if (read_at.task.isText() && asked.length) {
        read_at.training.batch = asManyTokens(read_at.training.batch);
        read_at.evaluation.problems = asManyTokens(read_at.evaluation.problems);
    }
    rescale(loaded, asked.scaling, read_at.inputLength());
    loaded.specification = read_at;
    return loaded;
}

}  // namespace

RunEvaluation evaluateRun(const RunFolder& folder, const ReadingOptions& options,
                          const EvaluationOptions& asked) {
    return translatingErrors([&] {
        LoadedModel loaded = loadToEvaluate(folder, options, asked);
        Evaluator evaluator(*loaded.task, loaded.specification, asked.seed);
        Evaluation evaluation = evaluator.evaluate(*loaded.model, loaded.step, loaded.sequences_seen);
        if (asked.length) evaluation.row.overlaps.reset();  // training has shown sequences of another length
        return RunEvaluation{evaluation.row, std::move(evaluation.samples)};
    });
}

PositionLosses lossByPosition(const RunFolder& folder, const ReadingOptions& options,
                              const EvaluationOptions& asked) {
    return translatingErrors([&] {
        LoadedModel loaded = loadToEvaluate(folder, options, asked);
        const Evaluator evaluator(*loaded.task, loaded.specification, asked.seed);
        return PositionLosses{loaded.step, loaded.specification.training.length,
                              evaluator.lossByPosition(*loaded.model)};
    });
}

SizeScores evaluateRunBySize(const RunFolder& folder, const ReadingOptions& options,
                             const EvaluationOptions& asked) {
    return translatingErrors([&] {
        const at::NoGradGuard no_gradients;
        LoadedModel loaded = loadModel(folder, options);
        if (!loaded.specification.task.hasProblems())
            throw Error(ErrorKind::usage,
                        "the " + loaded.specification.task.name + " task has no problems of different sizes");
        if (asked.largest) {
            TaskSettings& task = loaded.specification.task;
            task.own.set(task.kind().length_settings.back(), *asked.largest);
            loaded.task = makeTask(loaded.specification.task);
        }
        rescale(loaded, asked.scaling, loaded.task->longestProblem());
        const std::vector<std::string> names = loaded.task->sizeNames();
        constexpr std::int64_t kMostProblems = 200000;
        const std::int64_t sizes = loaded.task->sizeCount();
        if (sizes * asked.problems > kMostProblems)
            throw Error(ErrorKind::usage, std::to_string(asked.problems) + " problems of each of " +
                                              std::to_string(sizes) + " sizes are too many; at most " +
                                              std::to_string(kMostProblems) + " in all");
        if (asked.temperature) loaded.specification.evaluation.temperature = *asked.temperature;
        const Evaluator evaluator(*loaded.task, loaded.specification, asked.seed);
        return SizeScores{loaded.step, asked.scaling, names,
                          evaluator.evaluateBySize(*loaded.model, asked.problems)};
    });
}

}  // namespace roper
