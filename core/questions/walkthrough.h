#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/text_predictions.h"

namespace roper {

/// What else the architecture, or a change, does at a stage of a walkthrough.
struct WalkthroughNote {
    std::string stage;  ///< "projections", "rotation", "scores", "weights", "sum" or "output"
    std::string text;   ///< a sentence
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WalkthroughNote, stage, text)

/// Everything that one head computes for one token n, from the residual stream before its layer to the
/// prediction. T tokens, C width of the model, L layers, H heads, d width of queries and keys, v width of
/// values. If there is a change, it applies to all vectors.
struct Walkthrough {
    std::int64_t layer = 0, head = 0;
    std::int64_t token = 0;                ///< n
    std::vector<std::string> tokens = {};  ///< texts of all tokens
    std::vector<double> residual = {};     ///< ‖x_n‖ of the embeddings and after every layer [L + 1]
    std::vector<Prediction> lens = {};     ///< the likeliest next token from each of these (logit lens);
                                           ///< empty if the model does not predict the next token
    std::string rotated = {};              ///< which of q, k, v and o rotate in this head: "qk"; empty: none
    std::vector<std::vector<int>>
        pairs = {},        ///< the two features of each pair, pair 0 first; empty: none rotates
        value_pairs = {};  ///< the same for values and outputs
    std::vector<double> query = {}, rotated_query = {};                 ///< [d]
    std::vector<std::vector<double>> keys = {}, rotated_keys = {};      ///< [T][d]
    std::vector<std::vector<double>> values = {}, rotated_values = {};  ///< [T][v]
    double scale = 1;                                                   ///< c, usually 1/√d
    std::string attention = "softmax";                                  ///< name of an AttentionKind
    /// c q_n·k_j of the rotated vectors [T], without caps and biases; NaN for keys hidden from the query
    std::vector<double> scores = {};
    std::vector<double> weights = {};  ///< a_nj [T]; 0 for hidden keys
    std::vector<double> sum = {};      ///< Σ_j a_nj v_j of the rotated values [v]
    std::vector<double> output = {};   ///< after the rotation back, and a gate if there is one [v]
    std::vector<double> added = {};  ///< ‖W_O o‖ of every head of the layer [H]; empty if the outputs of all
                                     ///< heads are normalized together before W_O
    std::vector<Prediction> predictions = {};   ///< of the token after n; empty like `lens`
    std::vector<Prediction> without_head = {};  ///< the same with this head ablated
    std::vector<WalkthroughNote> notes = {};
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Walkthrough, layer, head, token, tokens, residual, lens, rotated, pairs,
                                   value_pairs, query, rotated_query, keys, rotated_keys, values,
                                   rotated_values, scale, attention, scores, weights, sum, output, added,
                                   predictions, without_head, notes)

}  // namespace roper
