#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// The experts of one layer that the T tokens of a text take, k each.
struct ExpertsOfLayer {
    std::int64_t layer = 0;
    std::vector<std::vector<std::int64_t>> experts;  ///< [T][k], the one with the largest score first
    std::vector<std::vector<double>> weights;        ///< [T][k] of their outputs in the sum
    std::vector<std::int64_t> counts;                ///< [experts] how many tokens are routed to each
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ExpertsOfLayer, layer, experts, weights, counts)

/// The choices of the routers in all layers that are mixtures of experts. An expert that all tokens take is
/// not among them.
struct ExpertsAnswer {
    std::vector<std::string> tokens;
    std::vector<ExpertsOfLayer> layers;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ExpertsAnswer, tokens, layers)

}  // namespace roper
