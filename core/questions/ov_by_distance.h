#pragma once

#include <cstdint>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// Singular values of the value kernel K(δ) = W_O R(−δ) W_V, a head's OV circuit (Elhage et al. 2021) for a
/// token δ positions back. Without value rotation they are the same at every distance.
struct OvByDistance {
    std::int64_t layer = 0, head = 0;
    std::vector<std::vector<double>> singular_values;  ///< [distances][d], descending
    /// At each distance, the number of singular values that account for 90 % of ‖K(δ)‖² = Σ σ².
    std::vector<std::int64_t> rank_90;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OvByDistance, layer, head, singular_values, rank_90)

}  // namespace roper
