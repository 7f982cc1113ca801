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
/// Otherwise, for the largest power P below H, those of P heads, then every other one of 2P heads.
/// (the authors' code at github.com/ofirpress/attention_with_linear_biases)
/// @param largest  m, 8 for most models
std::vector<double> alibiSlopes(int heads, double largest = 8);

inline constexpr int kT5Buckets = 32;
inline constexpr int kT5MaxDistance = 128;

/// T5's bucket of a distance δ = query − key. Causal (`bidirectional` false): keys to the right fall into
/// bucket 0; buckets are exact for the lower half, then logarithmic up to `max_distance`; larger
/// distances share the last bucket. Bidirectional: half of the buckets for each side. (Raffel et al. 2020)
int t5Bucket(int distance, bool bidirectional, int buckets = kT5Buckets, int max_distance = kT5MaxDistance);

/// A stand-in for T5's learned biases, one per bucket: normal numbers determined by the seed.
std::vector<double> exampleT5Biases(std::uint64_t seed, int buckets = kT5Buckets);

/// xPos: the base ζ_i = (2i/d + γ)/(1 + γ) of pair i's decay, γ = 0.4. A query at n is multiplied by
/// ζ_i^{n/512}, a key at j by ζ_i^{−j/512}. (Sun et al. 2022; torchscale)
double xposBase(int pair, int pairs);
inline constexpr double kXposScaleBase = 512;

}  // namespace roper
