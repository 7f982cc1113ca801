#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

#include "core/model/transformer.h"
#include "core/runs/rows.h"
#include "core/runs/run_folder.h"
#include "core/tasks/task.h"

namespace roper {

/// The `snapshots.tokens` tokens used for snapshots of a run, the same at every step: held-out problems or,
/// if the task has none, a validation sequence.
std::vector<std::int64_t> snapshotTokens(const Task& task, const Specification& specification);

/// Writes "attention" [L, H, T, T], "norms" [4, L, H, d/2] (`Transformer::statistics`) and "tokens" [T] of
/// the model for the snapshot text to the run's snapshots folder: L layers, H heads of d features, T tokens.
/// @throws Error (disk)
void writeSnapshot(const RunFolder& folder, Transformer& model, const Task& task,
                   const Specification& specification, std::int64_t step);

/// Values specific to a model's position method and attention: trained frequencies, T5's biases, and the
/// smallest denominator of linear attention over tokens [B, T]. Empty for most methods.
std::vector<MethodRow> methodReport(Transformer& model, const at::Tensor& tokens, std::int64_t step);

}  // namespace roper
