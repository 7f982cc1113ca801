#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roper {

/// How the numbers of a matrix's rows are packed: as 16-bit floats, or in ggml's blocks of 32 or 256 integers
/// with scales (core/pretrained/element_types says how each is laid out).
enum class Packing : std::int8_t { f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, q4_k, q5_k, q6_k };

/// The other factor of such a product: x [rows, columns], and the sums of its columns in groups of 32, by
/// which a block's minimum is multiplied.
class PackedProductInput {
  public:
    /// Most rows; for more it is faster to decode the matrix first.
    static constexpr std::size_t kMaxRows = 4;

    /// @param x  [rows, columns], row-major, which must outlive this object; 1 ≤ rows ≤ kMaxRows
    PackedProductInput(const float* x, std::size_t rows, std::size_t columns);

    const float* x() const { return x_; }
    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    /// [rows, columns / 32]
    const float* sums() const { return sums_.data(); }

  private:
    const float* x_;
    std::size_t rows_, columns_;
    std::vector<float> sums_;
};

/// Whether this CPU has vectors for it: SSE4 or later.
bool canMultiplyPacked();

/// y[m, n] = Σ_k x[m, k] W[n, k] for the N rows of a packed matrix W [N, K], which is decoded in registers:
/// the numbers are those of the decoded matrix, up to the rounding of float32. Each row of W is summed in the
/// same order, however rows are divided among calls.
/// @param matrix  N rows of K numbers without padding; K is a multiple of the packing's block
/// @param y       [x.rows(), stride], of which N columns are written
void multiplyPacked(Packing packing, const std::byte* matrix, std::size_t N, const PackedProductInput& x,
                    float* y, std::size_t stride);

}  // namespace roper
