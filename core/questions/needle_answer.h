#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// How far a sentence is found again that stands somewhere in a long text.
struct NeedleAnswer {
    std::vector<std::int64_t> lengths;     ///< tokens of the text, with the needle and the question
    std::vector<double> depths;            ///< 0: at its beginning, 1: right before the question
    std::vector<std::vector<double>> nll;  ///< [lengths][depths] −ln p of the answer's tokens, their mean
    std::vector<std::vector<bool>> found;  ///< whether each of them was the likeliest
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NeedleAnswer, lengths, depths, nll, found)

}  // namespace roper
