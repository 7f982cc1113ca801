#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// What putting a head's output of one text into a pass over another does to the answer: the share of the
/// difference between the logits of both answers that it restores (activation patching; Wang et al. 2022,
/// arXiv 2211.00593). 0: nothing, 1: all of it.
struct PatchAnswer {
    std::int64_t layer = 0, head = 0;  ///< of what is patched position by position
    std::vector<std::string> tokens, other_tokens;
    std::string answer, other_answer;  ///< the likeliest successors of both texts
    double difference = 0;             ///< logit of `answer` less that of `other_answer`, of the text
    double other_difference = 0;       ///< the same of the other text
    std::vector<std::vector<double>>
        restored;  ///< [layers][heads], or [1][T] position by position of one head
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PatchAnswer, layer, head, tokens, other_tokens, answer, other_answer,
                                   difference, other_difference, restored)

}  // namespace roper
