#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// Routing of the T tokens of a text in one layer, each to k experts.
struct ExpertsOfLayer {
    std::int64_t layer = 0;
    std::vector<std::vector<std::int64_t>> experts;  ///< [T][k], the one with the largest score first
    std::vector<std::vector<double>> weights;        ///< [T][k] by which their outputs are multiplied
    std::vector<std::int64_t> counts;                ///< [experts] number of tokens routed to each
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ExpertsOfLayer, layer, experts, weights, counts)

/// Routing in all layers that are mixtures of experts, without shared experts, which process every token.
struct ExpertsAnswer {
    std::vector<std::string> tokens;
    std::vector<ExpertsOfLayer> layers;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ExpertsAnswer, tokens, layers)

}  // namespace roper
