#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "core/pretrained/model_weights.h"

namespace roper {

/// The parameters of a published model, read on demand: decoded to float32, or packed as in the file for
/// products with few rows. Since most questions read a model once, only those read a second time are cached,
/// up to a memory budget.
class WeightReader {
  public:
    explicit WeightReader(std::shared_ptr<const TensorStore> store) : store_(std::move(store)) {}

    /// Sets the memory budget for cached parameters in bytes. Parameters that every token uses are never
    /// evicted, and evict those of experts. Experts do not evict each other: in repeated passes over more
    /// experts than fit, each would be evicted before it is used again.
    void setMemoryBudget(std::uint64_t bytes) { budget_ = bytes; }

    /// Whether a matrix is used by all tokens or belongs to an expert, for the memory budget.
    enum class Part { of_all_tokens, of_expert };
    at::Tensor matrix(const MatrixLocation& location, Part part = Part::of_all_tokens);  ///< [out, in]
    /// [size]; may be cached, so it must not be changed in place.
    at::Tensor vector(const VectorLocation& location);

    /// x Wᵀ. x [T, in] → [T, out]. For few rows a matrix in a known packing is multiplied without decoding it
    /// (core/kernels/packed_product.h), which takes less memory and, where memory limits the speed, less
    /// time.
    at::Tensor product(const at::Tensor& x, const MatrixLocation& location, Part part = Part::of_all_tokens);

    /// The same for `count` rows of W from `first` on → [T, count]
    at::Tensor productOfRows(const at::Tensor& x, const MatrixLocation& location, std::int64_t first,
                             std::int64_t count, Part part = Part::of_all_tokens);

    /// Rows of a table, one for each index, without decoding the rest → [indices, in]
    at::Tensor gatherRows(const MatrixLocation& table, std::span<const std::int64_t> indices) const;

    /// `count` rows of a matrix from `first` on → [count, in]. Decodes only these unless the matrix is
    /// cached, or is stored transposed or as several stretches of rows. A pass over all parts begins with row
    /// 0.
    at::Tensor part(const MatrixLocation& location, std::int64_t first, std::int64_t count);

  private:
    at::Tensor decode(const MatrixLocation& location) const;
    /// The bytes of a matrix as stored; undefined if they are not cached.
    /// @param begins_pass  the call is the first for this matrix in a pass, so that it may be cached
    at::Tensor packed(const MatrixLocation& location, const StoredTensor& tensor, bool begins_pass,
                      Part part);
    /// Evicts experts until this many bytes fit, if they fit into the budget at all.
    void makeRoomFor(std::uint64_t bytes);
    /// Whether to cache this many bytes: from the second time on, if they fit, possibly after evicting
    /// experts.
    bool shouldKeep(const std::string& key, std::uint64_t bytes, Part part);
    at::Tensor keep(const std::string& key, const at::Tensor& tensor, Part part);
    std::map<std::string, at::Tensor>& keptOf(Part part) {
        return part == Part::of_expert ? kept_experts_ : kept_;
    }

    std::shared_ptr<const TensorStore> store_;
    std::uint64_t budget_ = 0, kept_bytes_ = 0;
    std::map<std::string, at::Tensor> kept_, kept_experts_;
    std::set<std::string> read_once_;
};

}  // namespace roper
