#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace roper {

/// ALiBi's slope of head h = 1 … H: 2^(−8h/H). The bias of query n and key j is −slope·(n − j); for a key to
/// the right of its query, −slope·|n − j|. (Press et al. 2021, arXiv 2108.12409; H a power of two)
/// @throws std::invalid_argument unless 1 ≤ head ≤ heads
double alibiSlope(int head, int heads);

/// ALiBi's slopes of any number of heads, as published models have them: 2^(−m·h/H) if H is a power of two.
/// Otherwise, with the largest power of two P below H: the slopes of P heads, then every other slope of 2P
/// heads. (the authors' code at github.com/ofirpress/attention_with_linear_biases)
/// @param largest  m, 8 for most models
std::vector<double> alibiSlopes(int heads, double largest = 8);

inline constexpr int kT5Buckets = 32;
inline constexpr int kT5MaxDistance = 128;

/// T5's bucket of a distance δ = query − key. The lower half of the buckets holds one distance each, the
/// upper half logarithmic ranges up to `max_distance`; larger distances share the last bucket. Causal
/// (`bidirectional` false): keys to the right fall into bucket 0. Bidirectional: half of the buckets serve
/// each side. (Raffel et al. 2020)
int t5Bucket(int distance, bool bidirectional, int buckets = kT5Buckets, int max_distance = kT5MaxDistance);

/// Substitutes for T5's learned biases, one per bucket: normal numbers determined by the seed.
std::vector<double> exampleT5Biases(std::uint64_t seed, int buckets = kT5Buckets);

/// xPos: the base ζ_i = (2i/d + γ)/(1 + γ) of pair i's decay, with γ = 0.4 and d/2 pairs. A query at n is
/// multiplied by ζ_i^{n/512}, a key at j by ζ_i^{−j/512}. (Sun et al. 2022; Microsoft's torchscale)
double xposBase(int pair, int pairs);
inline constexpr double kXposScaleBase = 512;

}  // namespace roper
