#pragma once

#include <cstdint>
#include <vector>

#include "app/roper_train/look_commands.h"
#include "core/inspection/inspector.h"

namespace roper {

/// Whether --layer and --head choose this head.
bool isWanted(const LookOptions& options, std::int64_t layer, std::int64_t head);

// Each prints a line for every head that is wanted, or for each of its parts, as CSV or JSON.

int printHeads(const std::vector<HeadReport>& reports, const LookOptions& options);
int printBands(const std::vector<HeadReport>& reports, const Architecture& model, std::size_t tokens,
               const LookOptions& options);
int printKernels(Inspector& inspector, const LookOptions& options);
/// Of a run: what one head made of values by distance at each of its checkpoints.
int printKernelHistory(Inspector& inspector, const LookOptions& options);

}  // namespace roper
