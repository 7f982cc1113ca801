#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "core/model/transformer.h"

namespace roper {

/// A second implementation of the model's forward pass, in Eigen and float64, written from docs/run-folder.md
/// and core/rotary alone.
/// @returns logits [T × V] of one sequence
Eigen::MatrixXd eigenLogits(const Specification& specification, const std::vector<NamedParameter>& parameters,
                            const std::vector<std::int64_t>& tokens);

}  // namespace roper
