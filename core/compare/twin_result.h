#pragma once

#include <string>

#include "core/compare/outcome.h"

namespace roper {

/// What RoPE's and RoPER's runs of the same seed have come to, in a sentence: while they train, what both
/// solve at the newest step that both have evaluated; once both have ended, which was first to solve a share
/// of the problems.
/// @param share  of the problems of an evaluation, in (0, 1]
std::string twinSentence(const RunRecord& rope, const RunRecord& roper, double share);

}  // namespace roper
