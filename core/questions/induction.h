#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// Which heads look back for what followed the last time: prefix-matching scores on random tokens that repeat
/// (Olsson et al. 2022, "In-context Learning and Induction Heads", arXiv 2209.11895). A head's score is the
/// weight with which a token of a repetition attends to the tokens that followed its earlier occurrences,
/// their sum, mean over the repetitions' tokens: 0 to 1.
struct InductionAnswer {
    std::int64_t repetitions = 0;            ///< how often the tokens stand in the text
    std::vector<std::string> tokens;         ///< drawn at random, each once
    std::vector<std::vector<double>> score;  ///< [layers][heads]
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InductionAnswer, repetitions, tokens, score)

}  // namespace roper
