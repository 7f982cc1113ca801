#pragma once

#include <cstdint>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// Attention that one head spends on sinks: means over the queries n ≥ 1 of a text, since query 0 sees only
/// its own token.
struct SinksOfHead {
    std::int64_t layer = 0, head = 0;
    double sink = 0;  ///< share of the learned sink, exp(s) in the softmax's denominator; 0: there is none
    double first_token = 0;  ///< weight on token 0, the attention sink of Xiao et al. 2023 (arXiv 2309.17453)
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SinksOfHead, layer, head, sink, first_token)

/// Attention sinks of all heads, layer by layer.
struct SinksAnswer {
    bool has_learned_sinks = false;  ///< whether the softmax has a learned score s for each head (gpt-oss)
    std::vector<SinksOfHead> heads;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SinksAnswer, has_learned_sinks, heads)

}  // namespace roper
