#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// Activation patching (Wang et al. 2022, arXiv 2211.00593): a head's output on one text is replaced by its
/// output on another. The result is the restored share of the logit difference between the two answers: 0 is
/// none, 1 all of it.
struct PatchAnswer {
    std::int64_t layer = 0, head = 0;  ///< the head patched position by position
    std::vector<std::string> tokens, other_tokens;
    std::string answer, other_answer;  ///< most likely successors of the two texts
    double difference = 0;             ///< logit of `answer` minus that of `other_answer`, on the text
    double other_difference = 0;       ///< the same on the other text
    std::vector<std::vector<double>>
        restored;  ///< [layers][heads], or [1][T] when one head is patched position by position
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PatchAnswer, layer, head, tokens, other_tokens, answer, other_answer,
                                   difference, other_difference, restored)

}  // namespace roper
