#pragma once

#include <string>

#include "core/compare/outcome.h"

namespace roper {

/// Compares RoPE's and RoPER's runs of the same seed in one sentence: during training, problems solved at the
/// newest step evaluated by both; after both have ended, which was first to solve a given fraction.
/// @param solved_fraction  of the problems of an evaluation, in (0, 1]
std::string twinSentence(const RunRecord& rope, const RunRecord& roper, double solved_fraction);

}  // namespace roper
