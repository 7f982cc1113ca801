#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/model/positions/positions.h"

namespace roper {

/// What KeyValueCache is to LibTorch's attention, for the kernel of core/kernels/cached_attention.h: keys and
/// values rotated by their positions, in the numbers of the products, in the order in which the kernel reads
/// them. Softmax with fixed frequencies, on the CPU.
class KernelCache {
  public:
    KernelCache(std::int64_t heads, std::int64_t head_dim, Pairing pairing, std::int64_t capacity)
        : heads_(heads), head_dim_(head_dim), capacity_(capacity), pairing_(pairing) {}

    /// Keeps the keys and values of whole prompts, positions 0 … T − 1, of the next layer.
    /// @param qkv  q, k and v side by side, before any rotation: [B, T, 3C], float32 or bfloat16
    void append(const at::Tensor& qkv, const PassPositions& pass);

    /// Adds one token to each sequence of a layer and attends from it.
    /// @param qkv        [B′, 1, 3C]: of each sequence, and of B′ − B others, which are not looked at
    /// @param positions  of the new tokens: [B] (int64)
    /// @param pass       of B′ single tokens
    /// @return           [B′, 1, C], of the type of `qkv`; 0 for the others
    at::Tensor attend(std::size_t layer, const at::Tensor& qkv, const at::Tensor& positions,
                      const PassPositions& pass);

    /// Keeps these sequences alone, in this order. rows [B′] (int64). Nothing is moved in memory.
    void keep(const at::Tensor& rows) { places_ = places_.index_select(0, rows); }

  private:
    std::int64_t heads_, head_dim_, capacity_;
    Pairing pairing_;
    at::Tensor places_;                      ///< where each sequence stands in the layers: [B] (int64)
    std::vector<at::Tensor> keys_, values_;  ///< one per layer [sequences, H, numbers]
};

}  // namespace roper
