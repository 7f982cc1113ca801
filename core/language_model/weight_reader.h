#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "core/pretrained/model_weights.h"

namespace roper {

/// Returns parameters of a published model as float32, decoded on demand and cached up to a memory budget.
class WeightReader {
  public:
    explicit WeightReader(std::shared_ptr<const TensorStore> store) : store_(std::move(store)) {}

    /// Sets the memory budget for decoded parameters in bytes. Parameters that every token uses are never
    /// evicted, and evict those of experts. Experts do not evict each other: in repeated passes over more
    /// experts than fit, each would be evicted before it is used again.
    void setMemoryBudget(std::uint64_t bytes) { budget_ = bytes; }

    /// Whether a matrix is used by all tokens or belongs to an expert, for the memory budget.
    enum class Part { of_all_tokens, of_expert };
    at::Tensor matrix(const MatrixLocation& location, Part part = Part::of_all_tokens);  ///< [out, in]
    at::Tensor vector(const VectorLocation& location);                                   ///< [size]

    /// Rows of a table, one for each index, without decoding the rest → [indices, in]
    at::Tensor gatherRows(const MatrixLocation& table, std::span<const std::int64_t> indices) const;

    /// `count` rows of a matrix from `first` on → [count, in]. Decodes only these if the matrix does not fit
    /// into the memory budget and is stored neither transposed nor as a part of a tensor.
    at::Tensor part(const MatrixLocation& location, std::int64_t first, std::int64_t count);

  private:
    at::Tensor decode(const MatrixLocation& location) const;
    /// Evicts experts until this many bytes fit, if they fit into the budget at all.
    void makeRoomFor(std::uint64_t bytes);

    std::shared_ptr<const TensorStore> store_;
    std::uint64_t budget_ = 0, decoded_bytes_ = 0;
    std::map<std::string, at::Tensor> decoded_, kept_experts_;
};

}  // namespace roper
