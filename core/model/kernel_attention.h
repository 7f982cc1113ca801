#pragma once

#include <ATen/core/Tensor.h>
#include <vector>

#include "core/model/positions/positions.h"
#include "core/rotary/head_layout.h"

namespace roper {

/// Softmax attention over whole sequences by the kernel of core/kernels, from the layer's q, k and v to the
/// input of the output projection: rotated, scored, summed and rotated back in one pass. Differentiable in q,
/// k and v and in the bias, not in the angles. On the CPU.
/// @param qkv   concatenated q, k and v: [B, T, jointWidth], float32 or bfloat16
/// @param pass  positions 0 … T − 1: this layer's cos and sin and the `distance_bias`, if any
/// @param sinks  scores of attention sinks [H] (float32), for which it is differentiable, too; or undefined
/// @return      concatenated outputs of all heads: [B, T, C], of the type of `qkv`
at::Tensor fusedAttention(const at::Tensor& qkv, const HeadLayout& layout, const AttentionScope& scope,
                          Pairing pairing, const PassPositions& pass, std::size_t layer,
                          const at::Tensor& sinks = {});

/// Equivalent of KeyValueCache for the kernel of core/kernels/cached_attention.h: keys and values rotated by
/// their positions, in the number type of the products and the kernel's memory layout. For softmax attention
/// with fixed frequencies, on the CPU.
class KernelKeyValueCache {
  public:
    /// @param window  as in `AttentionScope`
    KernelKeyValueCache(const HeadLayout& layout, std::int64_t window, Pairing pairing, std::int64_t capacity)
        : layout_(layout), window_(window), capacity_(capacity), pairing_(pairing) {}

    /// Stores the keys and values of whole prompts, positions 0 … T − 1, of the next layer.
    /// @param qkv  concatenated q, k and v, before rotation: [B, T, jointWidth], float32 or bfloat16
    void append(const at::Tensor& qkv, const PassPositions& pass);

    /// Adds one token to each sequence of a layer and computes its attention.
    /// @param qkv        [B′, 1, jointWidth]: of the B sequences, and of B′ − B padding rows, which are
    /// ignored
    /// @param positions  of the new tokens: [B] (int64)
    /// @param pass       of B′ single tokens
    /// @param sinks      [H] (float32) or undefined
    /// @return           [B′, 1, C], of the type of `qkv`; 0 in padding rows
    at::Tensor attend(std::size_t layer, const at::Tensor& qkv, const at::Tensor& positions,
                      const PassPositions& pass, const at::Tensor& sinks);

    /// Keeps only these sequences, in this order. rows [B′] (int64). Nothing is moved in memory.
    void selectSequences(const at::Tensor& rows) { slots_ = slots_.index_select(0, rows); }

  private:
    HeadLayout layout_;
    std::int64_t window_, capacity_;
    Pairing pairing_;
    at::Tensor slots_;                       ///< index of each sequence in the layers: [B] (int64)
    std::vector<at::Tensor> keys_, values_;  ///< one per layer [sequences, kv_heads, elements]
};

}  // namespace roper
