#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <string>

#include "core/rotary/rotation.h"

namespace roper {

/// What makes a head's scores differ from key to key.
struct BandUse {
    Eigen::VectorXd
        share;  ///< of each pair, the fastest first; may be negative where a pair works against the others
    double rest = 0;      ///< of the features that do not rotate; all shares sum to 1
    double variance = 0;  ///< of the scores over the keys that a query sees, mean over queries
};

/// Splits the variance of scores s_nj = q_n·k_j over the keys j that query n sees into what each pair
/// contributes: Σ_n cov_j(s_nj of the pair, s_nj) / Σ_n var_j(s_nj). Softmax ignores what all keys have in
/// common, so this, and not the size of a pair's scores, says what a pair does.
/// @param Q, K    [T × d], rotated
/// @param rotary  which features make a pair
/// @param window  a query sees itself and this many keys less one before it; T or more: all before it
/// @param causal  otherwise every query sees all keys
BandUse bandUse(const Eigen::MatrixXd& Q, const Eigen::MatrixXd& K, const Rotary& rotary, Eigen::Index window,
                bool causal = true);

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

/// The numbers of a report that are shown, by their names.
struct HeadMeasure {
    const char* name;
    double HeadReport::*number;
};
inline constexpr std::array kHeadMeasures = {HeadMeasure{"entropy", &HeadReport::entropy},
                                             HeadMeasure{"mean_distance", &HeadReport::mean_distance},
                                             HeadMeasure{"first", &HeadReport::first},
                                             HeadMeasure{"self", &HeadReport::self},
                                             HeadMeasure{"previous", &HeadReport::previous},
                                             HeadMeasure{"local", &HeadReport::local},
                                             HeadMeasure{"same", &HeadReport::same},
                                             HeadMeasure{"induction", &HeadReport::induction},
                                             HeadMeasure{"slow_share", &HeadReport::slow_share}};

/// A head's name by rule, the first that applies: "induction" (induction ≥ 0.4), "previous token" (previous ≥
/// 0.4), "same token" (same ≥ 0.4), "first token" (first ≥ 0.5), "local" (local ≥ 0.7), "content" (slow_share
/// ≥ 0.5); else "mixed".
std::string labelOf(const HeadReport& report);

/// The number that a label rests on: `previous` for "previous token".
double evidenceOf(const HeadReport& report);

}  // namespace roper
