#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// What the head would make of the residual stream after every layer (nostalgebraist 2020). Of layer −1, the
/// embeddings, first.
struct LensAnswer {
    std::vector<std::string> tokens;
    std::vector<std::vector<std::string>> top;     ///< [layers + 1][T] the likeliest successor
    std::vector<std::vector<double>> probability;  ///< of it
    std::vector<std::vector<double>> nll;  ///< [layers + 1][T − 1] −ln p of the token that follows
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LensAnswer, tokens, top, probability, nll)

}  // namespace roper
