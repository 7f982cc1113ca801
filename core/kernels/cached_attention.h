#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/kernels/attention.h"

namespace roper {

/// Softmax attention of one new token of each of B sequences, at position n, to those before it and to
/// itself:
///
///     o_n = R(−n) Σ_{j ≤ n} a_nj R(j)v_j,  a_n· = softmax_j((R(n)q_n)ᵀ R(j)k_j / √d + β_nj)
///
/// The rotated keys and values of earlier tokens come from a cache, so that nothing is rotated twice.
struct DecodingArguments {
    std::size_t B = 0, H = 0, K = 0, d = 0;  ///< heads as in `AttentionArguments`
    bool shared_kv = false;
    Pairing pairing = Pairing::half;
    RotationTable query, key, value, output;  ///< at the new tokens' positions: [B, pairs]
    const std::int64_t* positions = nullptr;  ///< n of each new token: [B]
    const std::int64_t* slots = nullptr;      ///< index of the cached sequence that each one continues: [B]
    const float* bias = nullptr;              ///< β to keys 0, 1, …: [B, H, bias_keys]; or none
    std::size_t bias_keys = 0;
    const float* sinks = nullptr;  ///< as in `AttentionArguments`
    std::size_t window = 0;        ///< likewise
};

/// The cache of one layer: keys and values of all sequences and key/value heads, [sequences, K,
/// cachedElements] each, in the kernel's order. Shared keys and values are stored in both orders. Number:
/// float or BFloat16, the type of the products' factors.
template <class Number>
struct CachedLayer {
    Number* keys = nullptr;
    Number* values = nullptr;
    std::size_t capacity = 0;  ///< maximum number of tokens per sequence
};

/// Size of the keys, and of the values, of one sequence and key/value head in a cache, in numbers.
std::size_t cachedElements(std::size_t d, std::size_t capacity);

/// Stores the rotated keys and values of a whole prompt in an empty cache, for sequence `item / K` and
/// key/value head `item % K`, with `setup` and `qkv` as in `attendForward`.
void cachePrompt(const AttentionArguments& setup, const float* qkv, const CachedLayer<float>& cache,
                 std::size_t item, AttentionScratch& scratch);
void cachePrompt(const AttentionArguments& setup, const BFloat16* qkv, const CachedLayer<BFloat16>& cache,
                 std::size_t item, AttentionScratch& scratch);

/// Adds the new token of sequence `item / K` and key/value head `item % K` to the cache; the heads of its
/// group attend to it and its predecessors.
/// @param qkv  [B, rowsPerToken, d]: q, k, v before rotation
/// @param out  [B, H, d]
void attendToCache(const DecodingArguments& setup, const float* qkv, const CachedLayer<float>& cache,
                   float* out, std::size_t item, AttentionScratch& scratch);
void attendToCache(const DecodingArguments& setup, const BFloat16* qkv, const CachedLayer<BFloat16>& cache,
                   BFloat16* out, std::size_t item, AttentionScratch& scratch);

/// Softmax attention of one query to keys and values that are stored as rows, neither rotated nor in the
/// order of a `CachedLayer`:
///
///     o = Σ_j a_j v_j,  a_j = exp(s_j) / (Σ_i exp(s_i) + exp(sink)),  s_j = scale · qᵀk_j
struct RowAttention {
    std::size_t N = 0, d = 0, value_width = 0;
    float scale = 1;
    float sink = -std::numeric_limits<float>::infinity();  ///< a further score, without a value; −∞: none
    const float *keys = nullptr, *values = nullptr;        ///< [N, d], [N, value_width]
    std::ptrdiff_t key_stride = 0, value_stride = 0;       ///< numbers from row to row

    /// Numbers of working space that `attendToRows` needs.
    static std::size_t spaceFor(std::size_t N) { return N + 16; }
};

/// @param q      [d]
/// @param space  `RowAttention::spaceFor(N)` numbers
/// @param out    [value_width]
void attendToRows(const RowAttention& rows, const float* q, float* space, float* out);

}  // namespace roper
