#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernels/attention.h"

namespace roper {

/// Softmax attention of one new token of each of B sequences, at position n, to those before it and to
/// itself:
///
///     o_n = R(−n) Σ_{j ≤ n} a_nj R(j)v_j,  a_n· = softmax_j((R(n)q_n)ᵀ R(j)k_j / √d + β_nj)
///
/// The rotated keys and values of earlier tokens come from a cache, so that nothing is rotated twice.
struct DecodingSetup {
    std::size_t B = 0, H = 0, d = 0;
    Pairing pairing = Pairing::half;
    RotationTable query, key, value;          ///< of the new tokens' positions: [B, pairs]
    const std::int64_t* positions = nullptr;  ///< n of each new token: [B]
    const std::int64_t* places = nullptr;     ///< which sequence of the cache each one continues: [B]
    const float* bias = nullptr;              ///< β to keys 0, 1, …: [B, H, bias_keys]; or none
    std::size_t bias_keys = 0;
};

/// The cache of one layer: keys and values of all sequences and heads, [sequences, H, cachedNumbers] each, in
/// the order in which the kernel reads them. Number: float or BFloat16, which products then have as factors.
template <class Number>
struct CachedLayer {
    Number* keys = nullptr;
    Number* values = nullptr;
    std::size_t capacity = 0;  ///< tokens that each sequence has room for
};

/// Numbers that the keys of one sequence and head take in a cache, and its values as many.
std::size_t cachedNumbers(std::size_t d, std::size_t capacity);

/// Puts the rotated keys and values of whole prompts into an empty cache: of sequence `item / H` and head
/// `item % H`, for which `setup` and `qkv` are as in `attendForward`.
void cachePrompt(const AttentionSetup& setup, const float* qkv, const CachedLayer<float>& cache,
                 std::size_t item, AttentionScratch& scratch);
void cachePrompt(const AttentionSetup& setup, const BFloat16* qkv, const CachedLayer<BFloat16>& cache,
                 std::size_t item, AttentionScratch& scratch);

/// Adds the new token of sequence `item / H` and head `item % H` to the cache and attends to it and those
/// before.
/// @param qkv  [B, 3, H, d]: q, k, v before any rotation
/// @param out  [B, H, d]
void attendToCache(const DecodingSetup& setup, const float* qkv, const CachedLayer<float>& cache, float* out,
                   std::size_t item, AttentionScratch& scratch);
void attendToCache(const DecodingSetup& setup, const BFloat16* qkv, const CachedLayer<BFloat16>& cache,
                   BFloat16* out, std::size_t item, AttentionScratch& scratch);

}  // namespace roper
