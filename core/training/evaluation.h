#pragma once

#include <functional>
#include <vector>

#include "core/model/transformer.h"
#include "core/runs/run_folder.h"
#include "core/tasks/task.h"

namespace roper {

struct Evaluation {
    EvaluationRow row;            ///< without its time
    std::vector<Sample> samples;  ///< empty where the task has no problems
};

/// Asks the model `specification.evaluation.problems` problems that no training sequence was made from,
/// completed greedily, and takes its loss on fresh sequences: as many as a batch, or, for a task without
/// problems, as many as problems are asked for. Changes nothing of the model and draws nothing from the
/// generators of training.
Evaluation evaluate(Transformer& model, const Task& task, const Specification& specification,
                    std::int64_t step);

}  // namespace roper
