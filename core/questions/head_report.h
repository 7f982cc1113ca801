#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <string>

#include "core/rotary/rotation.h"

namespace roper {

/// Decomposition of the variance of a head's scores over the keys.
struct PairContributions {
    Eigen::VectorXd
        share;        ///< share of each pair, the fastest first; negative if a pair counteracts the others
    double rest = 0;  ///< share of the features that do not rotate; all shares sum to 1
    double variance = 0;  ///< of the scores over the visible keys, mean over queries
};

/// Decomposes the variance of the scores s_nj = q_n·k_j over the keys j visible to query n into contributions
/// of pairs: Σ_n cov_j(s_nj of the pair, s_nj) / Σ_n var_j(s_nj). Softmax ignores whatever all keys have in
/// common, so this measures a pair's effect, while the magnitude of its scores does not.
/// @param Q, K    [T × d], rotated
/// @param rotary  assignment of features to pairs
/// @param window  number of visible keys, including the query's own; T or more: all preceding keys
/// @param causal  false: a query sees the keys less than `window` away on both sides
PairContributions pairContributions(const Eigen::MatrixXd& Q, const Eigen::MatrixXd& K, const Rotary& rotary,
                                    Eigen::Index window, bool causal = true);

/// Statistics of one head on a text. Shares of weight are means over the queries for which they are defined,
/// without query 0 of a causal model, which sees only itself.
struct HeadReport {
    std::int64_t layer = 0, head = 0;
    double entropy = 0;        ///< −Σⱼ a log a, nats
    double mean_distance = 0;  ///< Σⱼ a |n − j|, tokens
    double first = 0;          ///< weight on token 0
    double self = 0;           ///< on the query's own token
    double previous = 0;       ///< on the preceding token
    /// On tokens less than `kLocalTokens` away, including the query's own.
    double local = 0;
    /// On other visible occurrences of the query's token, for queries that have one.
    double same = 0;
    double induction = 0;     ///< on the tokens after these occurrences, as induction heads attend
    PairContributions bands;  ///< by pair
    /// Share in `bands` of pairs that complete no rotation within the text, and of features that do not
    /// rotate.
    double slow_share = 0;
    Eigen::VectorXd query_norms, key_norms,
        value_norms;  ///< by pair, means over tokens; keys and values are those of the head's group
};

inline constexpr std::int64_t kLocalTokens = 8;

/// The numbers of a report that are shown, with their names.
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

/// Classifies a head by the first matching rule: "induction" (induction ≥ 0.4), "previous token" (previous ≥
/// 0.4), "same token" (same ≥ 0.4), "first token" (first ≥ 0.5), "local" (local ≥ 0.7), "content" (slow_share
/// ≥ 0.5); otherwise "mixed".
std::string labelOf(const HeadReport& report);

/// The number on which a label is based: `previous` for "previous token".
double evidenceOf(const HeadReport& report);

}  // namespace roper
