#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// Prefix-matching scores on repeated random tokens, which identify induction heads (Olsson et al. 2022,
/// "In-context Learning and Induction Heads", arXiv 2209.11895). A head's score is the total attention weight
/// from a token of a repetition to the tokens that followed its earlier occurrences, averaged over the tokens
/// of the repetitions: 0 to 1.
struct InductionAnswer {
    std::int64_t repetitions = 0;            ///< number of times that the sequence occurs
    std::vector<std::string> tokens;         ///< distinct random tokens
    std::vector<std::vector<double>> score;  ///< [layers][heads]
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InductionAnswer, repetitions, tokens, score)

}  // namespace roper
