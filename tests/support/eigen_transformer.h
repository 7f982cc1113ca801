#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "core/model/transformer.h"

namespace roper {

/// The model's forward pass written a second time, in Eigen and float64, from docs/run-folder.md and
/// core/rotary alone.
/// @returns logits [T × V] of one sequence
Eigen::MatrixXd eigenLogits(const Specification& specification, const std::vector<NamedParameter>& parameters,
                            const std::vector<std::int64_t>& tokens);

}  // namespace roper
