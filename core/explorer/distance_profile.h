#pragma once

#include <vector>

#include "core/explorer/attention_maps.h"

namespace roper {

/// Scores of all queries with the keys at one distance n − j.
struct DistanceScores {
    int distance = 0;
    double mean = 0, minimum = 0, maximum = 0;
};

/// Scores by distance, ascending; with causal attention from 0.
/// @param max_queries  in longer texts only this many evenly spaced queries are used
std::vector<DistanceScores> scoresByDistance(const ScoreRule& rule, const HeadVectors& heads,
                                             double shift = 0, int max_queries = 128);

}  // namespace roper
