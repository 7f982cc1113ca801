#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/kernels/bfloat16.h"
#include "core/rotary/pairing.h"

namespace roper {

/// cos mθ_i and sin mθ_i for positions m = 0 … T − 1: [T, pairs] each, row after row. No pairs: no rotation.
struct RotationTable {
    const float* cosine = nullptr;
    const float* sine = nullptr;
    std::size_t pairs = 0;
};

/// Softmax attention of B sequences of T tokens with H heads of width d, which rotates q, k and v itself:
///
///     s_nj = (R(n)q_n)ᵀ R(j)k_j / √d + β_{n−j}      a_nj = softmax_j(s_nj)
///     o_n  = R(−n) Σ_j a_nj R(j)v_j                 (Su et al. 2021; Harik & Jayasiri 2022)
///
/// Features beyond 2·pairs of a table pass through, so RoPE has no pairs for values and a model without
/// rotation none at all. No matrix of T × T numbers is ever kept: softmax is computed block by block (Milakov
/// & Gimelshein 2018; Dao et al. 2022).
struct AttentionSetup {
    std::size_t B = 0, T = 0, H = 0, d = 0;
    bool causal = true;  ///< query n sees keys 0 … n, otherwise all of them
    Pairing pairing = Pairing::half;
    RotationTable query, key;     ///< as wide; cosines and sines may be of any size (YaRN, xPos)
    RotationTable value;          ///< rotations: cos² + sin² = 1
    const float* bias = nullptr;  ///< β [H, 2T − 1], entry n − j + T − 1 for query n and key j; or none
};

/// What one thread works in. It grows to what the largest setup needs and is used again.
class AttentionScratch {
  public:
    AttentionScratch();
    ~AttentionScratch();
    AttentionScratch(AttentionScratch&&) noexcept;
    AttentionScratch& operator=(AttentionScratch&&) noexcept;

    /// Room for `floats` numbers, aligned for any vector; what stood there is lost.
    float* room(std::size_t floats);

  private:
    struct Memory;
    std::unique_ptr<Memory> memory_;
};

/// The attention of sequence `item / H` and head `item % H`; items are independent of each other. With
/// bfloat16, the factors of all products are rounded to it; sums, softmax and rotations are in float32.
/// @param qkv       [B, T, 3, H, d]: q, k, v before any rotation
/// @param out       [B, T, H, d]
/// @param log_sums  [B, H, T]: log₂ Σ_j 2^(s_nj log₂e), which the backward pass needs
void attendForward(const AttentionSetup& setup, const float* qkv, float* out, float* log_sums,
                   std::size_t item, AttentionScratch& scratch);
void attendForward(const AttentionSetup& setup, const BFloat16* qkv, BFloat16* out, float* log_sums,
                   std::size_t item, AttentionScratch& scratch);

/// Gradients of the same item.
/// @param out, log_sums  what `attendForward` left
/// @param grad_out       [B, T, H, d]
/// @param grad_qkv       [B, T, 3, H, d]
/// @param grad_bias      [B, H, 2T − 1], to be summed over B; null if there is no bias or nobody asks
void attendBackward(const AttentionSetup& setup, const float* qkv, const float* out, const float* log_sums,
                    const float* grad_out, float* grad_qkv, float* grad_bias, std::size_t item,
                    AttentionScratch& scratch);
void attendBackward(const AttentionSetup& setup, const BFloat16* qkv, const BFloat16* out,
                    const float* log_sums, const BFloat16* grad_out, BFloat16* grad_qkv, float* grad_bias,
                    std::size_t item, AttentionScratch& scratch);

/// Instruction sets for which the kernels were compiled and which this CPU has, best first: "AVX-512 BF16",
/// "AVX-512", "AVX2", … All but the first compute products of bfloat16 by those of float32, which is slow.
std::vector<std::string> kernelTargets();

/// Whether this CPU multiplies bfloat16 itself, and that instruction set is in use.
bool kernelsMultiplyBFloat16();

/// The one in use.
std::string kernelTarget();

/// Uses `name` of `kernelTargets()` from now on, or the best again if it is empty; for tests and
/// measurements.
/// @throws std::invalid_argument if this CPU has no such target
void useKernelTarget(const std::string& name);

}  // namespace roper
