#pragma once

#include <Eigen/Core>
#include <QString>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/safetensors.h"
#include "core/rotary/attention_statistics.h"
#include "ui/charts/heat_map_view.h"

namespace roper {

/// A model as titles and captions name it: "addition-roper at step 400"; a published one, which has no steps
/// (−1), by its name alone.
QString modelAtStep(const QString& model, std::int64_t step);

/// "layer 1, head 3"
QString headTitle(int layer, int head);

/// Attention of one head, ready to be drawn.
struct HeadMap {
    int layer = 0, head = 0;
    HeatMapView::Map map;
};

/// Weights [T, T] as a map.
/// @param tokens  by which rows and columns are named; empty: by their numbers
HeatMapView::Map attentionMap(std::shared_ptr<const Eigen::MatrixXd> weights, bool causal,
                              const QStringList& tokens = {});
/// The weight of a cell of such a map in words; empty beside it.
QString weightAt(const HeatMapView::Map& map, int row, int column);

/// Attention of all heads, small.
struct HeadThumbnails {
    int layers = 0, heads = 0;
    std::vector<Eigen::MatrixXf> maps;  ///< of layer·heads + head
};

/// A map of at most so many cells a side, each the largest of those that it stands for: a diagonal stays one.
Eigen::MatrixXf reduced(const Eigen::MatrixXf& map, Eigen::Index side);

/// What all heads of a model do with a text at a step.
struct HeadMaps {
    std::int64_t step = 0;
    std::string text;
    std::vector<std::string> tokens;  ///< the text, token by token
    int layers = 0, heads = 0;
    bool causal = true;                                           ///< no query sees a key after it
    std::vector<std::shared_ptr<const Eigen::MatrixXd>> weights;  ///< [T, T] of layer·heads + head
    std::vector<HeadStatistics> statistics;                       ///< of the same
    HeadThumbnails small;

    std::size_t count() const { return weights.size(); }
    /// The nearest that there is.
    std::size_t indexOf(int layer, int head) const {
        return static_cast<std::size_t>(std::clamp(layer, 0, layers - 1) * heads +
                                        std::clamp(head, 0, heads - 1));
    }
};

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

// What models answer as tensors. @throws Error (checkpoint) saying what does not fit

/// From a snapshot, or the answer to `maps`.
HeadMaps readHeadMaps(const SafetensorsFile& file);
HeadThumbnails readThumbnails(const SafetensorsFile& file);
/// Weights [T, T] of one head.
Eigen::MatrixXd readAttention(const SafetensorsFile& file);
Continuation readContinuation(const SafetensorsFile& file);

}  // namespace roper
