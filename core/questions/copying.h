#pragma once

#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// Copying score of every head (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"): Re
/// Σ λ / Σ |λ| over the eigenvalues λ of its full OV circuit for the text's tokens, which is its TokenMap at
/// distance 0. It ranges from −1 to 1; at 1, attending to a token raises the logits of that token and of
/// similar ones. It is 0 if all eigenvalues are 0.
struct CopyingAnswer {
    std::vector<std::string> tokens;         ///< distinct tokens of the text
    std::vector<std::vector<double>> score;  ///< [layers][heads]
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CopyingAnswer, tokens, score)

}  // namespace roper
