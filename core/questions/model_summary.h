#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// Properties of a model, and the cost of running it on this machine.
struct ModelSummary {
    std::string name, family;
    std::int64_t layers = 0, heads = 0, key_value_heads = 0, head_dim = 0, width = 0;
    std::int64_t feed_forward = 0;  ///< hidden width of feed-forward layers
    std::int64_t vocabulary = 0;    ///< number of tokens
    std::int64_t context = 0;       ///< training context length in tokens; 0: unknown
    std::int64_t parameters = 0;    ///< number of trained parameters, shared ones counted once
    /// Experts of a layer, and experts to which a token is routed; 0: the model has no mixtures of experts.
    std::int64_t experts = 0, experts_per_token = 0;
    std::int64_t parameters_per_token = 0;  ///< without the experts to which a token is not routed
    std::int64_t file_bytes = 0;            ///< size of its files
    double memory_bytes = 0;  ///< least memory for reading 500 tokens, without keeping decoded parameters
    bool causal = true;       ///< false: every token attends to both sides
    bool has_head = true;     ///< an output head, so that it predicts tokens
    bool predicts_masked = false;  ///< masked tokens instead of next ones
    /// Sliding window of each layer: the largest distance that a query sees, plus one; 0: no window. Empty:
    /// no layer has one.
    std::vector<std::int64_t> windows = {};
    bool rotates = false, rotates_values = false;
    std::string rotated = {};             ///< which of q, k, v and o rotate: "qk"; empty: none
    bool outputs_rotate_back = true;      ///< meaningful only if values rotate
    std::vector<double> theta = {};       ///< of the first layer, radians per position
    std::vector<std::string> notes = {};  ///< warnings from loading the model
    bool has_problems = false;  ///< whether it is a run of a task whose problems can be used as texts
    std::vector<std::int64_t> checkpoints = {};  ///< steps of the available checkpoints of a run, ascending
    double gflops = 0;                           ///< measured speed of matrix products on this machine

    /// The window of a layer; 0: none.
    std::int64_t windowOf(std::size_t layer) const { return layer < windows.size() ? windows[layer] : 0; }
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelSummary, name, family, layers, heads, key_value_heads, head_dim,
                                   width, feed_forward, vocabulary, context, parameters, experts,
                                   experts_per_token, parameters_per_token, file_bytes, memory_bytes, causal,
                                   has_head, predicts_masked, windows, rotates, rotates_values, rotated,
                                   outputs_rotate_back, theta, notes, has_problems, checkpoints, gflops)

/// The most parameters that a pass over this many tokens uses: tokens may be routed to different experts,
/// until all experts are used.
inline double mostParametersUsed(const ModelSummary& model, double tokens) {
    const auto each = static_cast<double>(model.parameters_per_token);
    if (model.experts <= model.experts_per_token) return each;
    const auto experts = static_cast<double>(model.experts), k = static_cast<double>(model.experts_per_token);
    const double of_an_expert = (static_cast<double>(model.parameters) - each) / (experts - k);
    return each + (std::min(experts, k * tokens) - k) * of_an_expert;
}

}  // namespace roper
