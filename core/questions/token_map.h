#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// The circuit from a token to the logits through one head (Elhage et al. 2021), by distance: entry (a, b) is
/// what attending with weight 1 to token a, δ positions back, adds to the logit of token b, before the final
/// norm divides by its scale: (W_U γ K(δ) x_a)_b, where x_a is the token's embedding after the layer's norm
/// and γ the weight of the final one. Biases are left out.
struct TokenMap {
    std::int64_t layer = 0, head = 0, distance = 0;
    std::vector<std::string> tokens;          ///< of the text, each once
    std::vector<std::vector<double>> logits;  ///< [tokens][tokens]
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TokenMap, layer, head, distance, tokens, logits)

}  // namespace roper
