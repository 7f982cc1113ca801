#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "core/pretrained/model_weights.h"

namespace roper {

/// Hands out the parameters of a published model as float32, decoded when they are wanted. What fits into a
/// budget of memory is kept, so that reading again is free.
class WeightReader {
  public:
    explicit WeightReader(std::shared_ptr<const TensorStore> store) : store_(std::move(store)) {}

    /// How many bytes of decoded parameters may be kept; what is kept stays.
    void keepUpTo(std::uint64_t bytes) { budget_ = bytes; }

    at::Tensor matrix(const MatrixPlace& place);  ///< [out, in]
    at::Tensor vector(const VectorPlace& place);  ///< [size]

    /// Rows of a table, one for each index, never the whole of it → [indices, in]
    at::Tensor rowsOf(const MatrixPlace& table, std::span<const std::int64_t> indices) const;

    /// `count` rows from `first` on of a matrix that is stored as it is → [count, in]
    at::Tensor part(const MatrixPlace& place, std::int64_t first, std::int64_t count);

  private:
    at::Tensor decode(const MatrixPlace& place) const;

    std::shared_ptr<const TensorStore> store_;
    std::uint64_t budget_ = 0, kept_bytes_ = 0;
    std::map<std::string, at::Tensor> kept_;
};

}  // namespace roper
