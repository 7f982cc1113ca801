#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/kernels/bfloat16.h"
#include "core/rotary/pairing.h"

namespace roper {

/// cos mθ_i and sin mθ_i for positions m = 0 … T − 1: [T, pairs] each, row-major. No pairs: no rotation.
struct RotationTable {
    const float* cosine = nullptr;
    const float* sine = nullptr;
    std::size_t pairs = 0;
};

/// Softmax attention of B sequences of T tokens with H heads of d features. It rotates q, k and v itself;
/// R(m) is the rotation by position m, β a bias by distance:
///
///     s_nj = (R(n)q_n)ᵀ R(j)k_j / √d + β_{n−j}      a_nj = softmax_j(s_nj)
///     o_n  = R(−n) Σ_j a_nj R(j)v_j                 (Su et al. 2021; Harik & Jayasiri 2022)
///
/// There are K heads of keys and values, each for a group of H/K heads of queries (grouped-query attention,
/// Ainslie et al. 2023). With `shared_kv`, the rotated keys are also the values.
///
/// With a window, only keys j > n − window are visible; with sinks, the softmax has a further score, of a key
/// whose value is 0. Features beyond 2·pairs of a table are not rotated, so RoPE has no pairs for values and
/// outputs. No matrix of T × T numbers is ever kept: softmax is computed block by block (Milakov & Gimelshein
/// 2018; Dao et al. 2022).
struct AttentionArguments {
    std::size_t B = 0, T = 0, H = 0, K = 0, d = 0;
    bool shared_kv = false;  ///< values are the keys, and qkv has none
    bool causal = true;      ///< query n sees keys 0 … n, otherwise all keys
    std::size_t window = 0;  ///< if causal and not 0: query n sees only the last `window` of these
    Pairing pairing = Pairing::half;
    RotationTable query, key;     ///< cos² + sin² may have any value (YaRN, xPos)
    RotationTable value;          ///< rotations: cos² + sin² = 1; unused with `shared_kv`
    RotationTable output;         ///< likewise; outputs rotate back
    const float* bias = nullptr;  ///< β [H, 2T − 1], entry n − j + T − 1 for query n and key j; or none
    /// Score of each head for a further key with the value 0, an attention sink: [H]; or none. The weights of
    /// a query then sum to less than 1.
    const float* sinks = nullptr;

    /// Number of items: an item is a sequence and a key/value head with its group of query heads.
    std::size_t items() const { return B * K; }
    std::size_t headsPerItem() const { return H / K; }
    /// Rows of d numbers per token in qkv: the queries of all heads, then keys, then values.
    std::size_t rowsPerToken() const { return H + (shared_kv ? 1 : 2) * K; }
};

/// Working memory of one thread. It grows to the size needed by the largest setup and is reused.
class AttentionScratch {
  public:
    AttentionScratch();
    ~AttentionScratch();
    AttentionScratch(AttentionScratch&&) noexcept;
    AttentionScratch& operator=(AttentionScratch&&) noexcept;

    /// Space for `floats` numbers, aligned for any vector; previous content is lost.
    float* buffer(std::size_t floats);

  private:
    struct Memory;
    std::unique_ptr<Memory> memory_;
};

/// The attention of sequence `item / K` and all heads of the group of key/value head `item % K`; items are
/// independent of each other. With bfloat16, the factors of all products are rounded to it; sums, softmax and
/// rotations are in float32.
/// @param qkv       [B, T, rowsPerToken, d]: q, k, v before rotation
/// @param out       [B, T, H, d]
/// @param log_sum_exps  [B, H, T]: log₂ Σ_j 2^(s_nj log₂e), with the sink, needed by the backward pass
void attendForward(const AttentionArguments& setup, const float* qkv, float* out, float* log_sum_exps,
                   std::size_t item, AttentionScratch& scratch);
void attendForward(const AttentionArguments& setup, const BFloat16* qkv, BFloat16* out, float* log_sum_exps,
                   std::size_t item, AttentionScratch& scratch);

/// Gradients of the same item, apart from that of a sink of score s, which is
/// −Σ_n 2^(s log₂e − log_sum_exps_n) ∂L/∂o_n · o_n.
/// @param out, log_sum_exps  results of `attendForward`
/// @param grad_out       [B, T, H, d]
/// @param grad_qkv       [B, T, rowsPerToken, d]
/// @param grad_bias      [B, H, 2T − 1], to be summed over B; null if there is no bias or its gradient is not
/// needed
void attendBackward(const AttentionArguments& setup, const float* qkv, const float* out,
                    const float* log_sum_exps, const float* grad_out, float* grad_qkv, float* grad_bias,
                    std::size_t item, AttentionScratch& scratch);
void attendBackward(const AttentionArguments& setup, const BFloat16* qkv, const BFloat16* out,
                    const float* log_sum_exps, const BFloat16* grad_out, BFloat16* grad_qkv, float* grad_bias,
                    std::size_t item, AttentionScratch& scratch);

/// Instruction sets for which the kernels were compiled and which this CPU has, best first: "AVX-512 BF16",
/// "AVX-512", "AVX2", … All but the first emulate bfloat16 products in float32, which is slow.
std::vector<std::string> kernelTargets();

/// Whether the instruction set in use has bfloat16 products.
bool kernelsMultiplyBFloat16();

/// The instruction set in use.
std::string kernelTarget();

/// Selects a target of `kernelTargets()`, or the best one if `name` is empty; for tests and measurements.
/// @throws std::invalid_argument if this CPU has no such target
void selectKernelTarget(const std::string& name);

}  // namespace roper
