#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// What a model is, and what working with it costs here.
struct ModelSummary {
    std::string name, family;
    std::int64_t layers = 0, heads = 0, key_value_heads = 0, head_dim = 0, width = 0, feed_forward = 0,
                 vocabulary = 0;
    std::int64_t context = 0;     ///< tokens of the texts that it was trained on; 0: not known
    std::int64_t parameters = 0;  ///< numbers that were trained, each once
    bool causal = true;
    bool rotates = false, rotates_values = false;
    std::vector<double> theta = {};              ///< of the first layer, radians per position
    std::vector<std::string> notes = {};         ///< about how it was read
    bool has_problems = false;                   ///< a run of a task whose problems it can be given
    std::vector<std::int64_t> checkpoints = {};  ///< of a run: the steps of those it has, ascending
    double gflops = 0;                           ///< what products of matrices reach here, measured
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelSummary, name, family, layers, heads, key_value_heads, head_dim,
                                   width, feed_forward, vocabulary, context, parameters, causal, rotates,
                                   rotates_values, theta, notes, has_problems, checkpoints, gflops)

}  // namespace roper
