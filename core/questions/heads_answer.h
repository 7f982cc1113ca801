#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"
#include "core/questions/head_report.h"

namespace roper {

/// Statistics of all heads on a text.
struct HeadsAnswer {
    std::vector<std::string> tokens;
    std::vector<std::vector<double>> theta;  ///< [layers][pairs] radians per position
    std::vector<HeadReport> heads;           ///< layer by layer
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PairContributions, share, rest, variance)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HeadReport, layer, head, entropy, mean_distance, first, self, previous,
                                   local, same, induction, bands, slow_share, query_norms, key_norms,
                                   value_norms)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HeadsAnswer, tokens, theta, heads)

}  // namespace roper
