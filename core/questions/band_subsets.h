#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// The loss when all bands but some are left out of the scores.
struct BandSubset {
    std::vector<int> kept;  ///< of the bands, from the fastest on
    double loss = 0;
};
struct SubsetsAnswer {
    std::vector<std::string> bands;  ///< the pairs of each: "0-7", "8-15"
    std::vector<BandSubset> subsets;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BandSubset, kept, loss)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SubsetsAnswer, bands, subsets)

}  // namespace roper
