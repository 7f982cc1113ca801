#pragma once

#include <cstdint>

namespace roper {

enum class NumberType : std::int8_t { float32, bfloat16 };

/// A matrix in memory, row-major or column-major: one of the strides is 1.
struct MatrixView {
    const void* data = nullptr;
    NumberType type = NumberType::float32;
    std::int64_t rows = 0, columns = 0;
    std::int64_t row_stride = 0, column_stride = 1;
};

/// Operation fused into a product before its rows are stored: act(row + bias) + added, where act is ReLU if
/// `relu`, else the identity; null pointers count as 0.
struct ProductEpilogue {
    const float* bias = nullptr;   ///< [columns of the product]
    const float* added = nullptr;  ///< of the product's shape, row-major
    bool relu = false;
};

/// Destination of a product, row-major.
struct ProductDestination {
    void* data = nullptr;
    NumberType type = NumberType::float32;
};

/// Returned by `MultiplyFunction` if memory ran out.
inline constexpr const char* kNoMemory = "no memory";

/// out = A·B with an epilogue, by oneDNN on all threads of OpenMP, which is fast on any x86 CPU, while
/// Intel's MKL, which LibTorch uses for float32, is slower on other manufacturers' CPUs. bfloat16 is summed
/// in float32; only some CPUs support it.
///
/// LibTorch contains another oneDNN with partly the same symbols. Therefore this function is in a separate
/// library, libroper-products.so, opened so that its own oneDNN is found first; the symbol is roper_multiply.
/// @param a, b     of one type and of matching shapes; products of float32 are float32
/// @param threads  the current number of OpenMP threads, for which the product is prepared
/// @returns        null, or an error message; `kNoMemory` if memory ran out
using MultiplyFunction = const char* (*)(const MatrixView& a, const MatrixView& b,
                                         const ProductEpilogue& epilogue, int threads,
                                         const ProductDestination& out);

/// The version of that oneDNN and its instruction set on this CPU; the symbol is roper_products_version.
using ProductsVersionFunction = const char* (*)();

}  // namespace roper
