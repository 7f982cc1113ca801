#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/band_use.h"

namespace roper {

/// What one head does with a text. Shares of weight are means over the queries n ≥ 1 for which they are
/// defined.
struct HeadReport {
    std::int64_t layer = 0, head = 0;
    double entropy = 0;        ///< −Σⱼ a log a, nats
    double mean_distance = 0;  ///< Σⱼ a |n − j|, tokens
    double first = 0;          ///< weight on token 0
    double self = 0;           ///< on the query's own token
    double previous = 0;       ///< on the token before
    double local = 0;          ///< on the last `kLocal` tokens, the query's own among them
    double same = 0;       ///< on earlier tokens that are the same as the query's, of queries that have one
    double induction = 0;  ///< on tokens after such ones: those that followed the last time
    BandUse bands;
    double slow_share =
        0;  ///< of `bands`: what pairs that finish no rotation within the text do, and what does not rotate
    Eigen::VectorXd query_norms, key_norms,
        value_norms;  ///< by pair, means over tokens; keys and values of its group
};

inline constexpr std::int64_t kLocal = 8;

/// A head's name by rule, the first that applies: "induction" (induction ≥ 0.4), "previous token" (previous ≥
/// 0.4), "same token" (same ≥ 0.4), "first token" (first ≥ 0.5), "local" (local ≥ 0.7), "content" (slow_share
/// ≥ 0.5); else "mixed".
std::string labelOf(const HeadReport& report);

/// The number that a label rests on: `previous` for "previous token".
double evidenceOf(const HeadReport& report);

}  // namespace roper
