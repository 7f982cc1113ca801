#pragma once

#include <Eigen/Core>
#include <QString>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/safetensors.h"
#include "core/rotary/attention_statistics.h"

namespace roper {

/// A model as titles and captions name it: "addition-roper at step 400"; a published one, which has no steps
/// (−1), by its name alone.
QString modelAtStep(const QString& model, std::int64_t step);

/// What all heads of a model do with a text at a step.
struct HeadMaps {
    std::int64_t step = 0;
    std::string text;
    std::vector<std::string> tokens;  ///< the text, token by token
    int layers = 0, heads = 0;
    bool causal = true;                                           ///< no query sees a key after it
    std::vector<std::shared_ptr<const Eigen::MatrixXd>> weights;  ///< [T, T] of layer·heads + head
    std::vector<HeadStatistics> statistics;                       ///< of the same

    std::size_t count() const { return weights.size(); }
    int layerOf(std::size_t head) const { return static_cast<int>(head) / heads; }
    int headOf(std::size_t head) const { return static_cast<int>(head) % heads; }
};

/// From a snapshot, or the answer to `maps`. @throws Error (checkpoint) saying what does not fit
HeadMaps readHeadMaps(const SafetensorsFile& file);

/// A text that a model wrote, token by token.
struct Continuation {
    std::int64_t step = 0;
    std::string prompt;
    std::vector<std::string> tokens;  ///< of the prompt and of what was generated
    std::size_t given = 0;            ///< of them were the prompt's
    std::vector<double> probability;  ///< of each generated token
    struct Candidate {
        std::string text;
        double probability;
    };
    std::vector<std::vector<Candidate>> candidates;  ///< of each, the likeliest first
    int layers = 0, heads = 0;
    /// Weights [N, T + N] of layer·heads + head: what the query behind each token looked at.
    std::vector<Eigen::MatrixXd> attention;

    std::size_t generated() const { return tokens.size() - given; }
};

/// From the answer to `generate`. @throws Error (checkpoint)
Continuation readContinuation(const SafetensorsFile& file);

}  // namespace roper
