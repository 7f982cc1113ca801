#pragma once

#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// Logit lens (nostalgebraist 2020): what the LM head predicts from the residual stream after every layer.
/// The embeddings come first, as layer −1.
struct LensAnswer {
    std::vector<std::string> tokens;
    std::vector<std::vector<std::string>> top;     ///< [layers + 1][T] the most likely next token
    std::vector<std::vector<double>> probability;  ///< its probability
    std::vector<std::vector<double>> nll;          ///< [layers + 1][T − 1] −ln p of the actual next token
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LensAnswer, tokens, top, probability, nll)

}  // namespace roper
