#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/model/attention.h"

namespace roper {

/// Keys and values of the tokens so far, for token-by-token generation. Keys are stored rotated by their
/// position, as are RoPER's values: only the output's rotation depends on the query, so nothing is rotated
/// twice.
class KeyValueCache {
  public:
    KeyValueCache() = default;

    /// Empty, with space for `capacity` tokens per sequence.
    explicit KeyValueCache(std::int64_t capacity) : capacity_(capacity) {}

    std::int64_t capacity() const { return capacity_; }

    /// Keeps only these sequences, in this order. rows [B′] (int64)
    void selectSequences(const at::Tensor& rows);

    /// Stores the keys and values of whole prompts, positions 0 … T − 1, of the next layer.
    void append(const Heads& heads);

    /// Adds one token per sequence to a layer. heads [B, H, 1, d]; positions [B] (int64), at most `used` − 1
    /// @return  the token's query with the keys and values of positions 0 … `used` − 1: [B, H, used, d]
    Heads extend(std::size_t layer, const Heads& heads, const at::Tensor& positions, std::int64_t used);

  private:
    std::int64_t capacity_ = 0;
    std::vector<at::Tensor> keys_;            ///< one per layer [B, H, capacity, d]
    std::vector<at::Tensor> values_;          ///< one per layer [B, H, capacity, d]
    std::vector<at::Tensor> unrotated_keys_;  ///< unrotated keys, if the attention needs them
};

}  // namespace roper
