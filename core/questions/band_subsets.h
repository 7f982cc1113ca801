#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// The loss when the scores use only some bands of pairs.
struct BandSubset {
    std::vector<int> kept;  ///< indices of bands, the fastest first
    double loss = 0;
};
/// Orders subsets by their loss, those without a finite one last.
inline bool hasLowerLoss(const BandSubset& a, const BandSubset& b) {
    if (!std::isfinite(a.loss) || !std::isfinite(b.loss))
        return std::isfinite(a.loss) && !std::isfinite(b.loss);
    return a.loss < b.loss;
}

struct SubsetsAnswer {
    /// The pairs of each band: "0-7", "8-15". If layers differ in the pairs of a head, those of each kind, the
    /// fewest first: "0-2|0-3".
    std::vector<std::string> bands;
    std::vector<BandSubset> subsets;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BandSubset, kept, loss)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SubsetsAnswer, bands, subsets)

}  // namespace roper
