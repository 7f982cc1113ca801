#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// A head's full OV circuit from tokens to logits (Elhage et al. 2021) by distance. Entry (a, b) is what
/// attending with weight 1 to token a, δ positions back, adds to the logit of token b, before the final norm
/// divides by its scale: (W_U γ K(δ) x_a)_b, where x_a is the token's embedding after the layer's norm and γ
/// the weight of the final norm. Biases are omitted.
struct TokenMap {
    std::int64_t layer = 0, head = 0, distance = 0;
    std::vector<std::string> tokens;          ///< distinct tokens of the text
    std::vector<std::vector<double>> logits;  ///< [tokens][tokens]
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TokenMap, layer, head, distance, tokens, logits)

}  // namespace roper
