#pragma once

#include <cstdint>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// Needle-in-a-haystack test: how well the model retrieves a sentence from a long text.
struct NeedleAnswer {
    std::vector<std::int64_t> lengths;     ///< tokens of the text, including needle and question
    std::vector<double> depths;            ///< 0: at the beginning, 1: immediately before the question
    std::vector<std::vector<double>> nll;  ///< [lengths][depths] mean −ln p of the answer's tokens
    std::vector<std::vector<bool>> found;  ///< whether every token of the answer was the most likely one
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NeedleAnswer, lengths, depths, nll, found)

}  // namespace roper
