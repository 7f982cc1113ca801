#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/pretrained/pretrained_model.h"
#include "core/runs/run_folder.h"
#include "core/specification/specification.h"

namespace roper {

/// Converts a model of a run into the representation of published models, so that the same questions can be
/// answered.
/// @param tensors  of a checkpoint, with the names of docs/run-folder.md
/// @throws Error (checkpoint) for tensors that do not match the specification
PretrainedModel convertRunModel(const Specification& specification,
                                std::shared_ptr<const TensorStore> tensors, const std::string& name);

/// Opens a run's checkpoint at a step, or its newest. @throws Error (checkpoint) like `convertRunModel`
PretrainedModel openRunModel(const RunFolder& run, std::optional<std::int64_t> step = {});

}  // namespace roper
