#pragma once

#include <cstdint>

namespace roper {

enum class NumberType : std::int8_t { float32, bfloat16 };

/// A matrix in memory, row after row or column after column: one of the strides is 1.
struct MatrixView {
    const void* data = nullptr;
    NumberType type = NumberType::float32;
    std::int64_t rows = 0, columns = 0;
    std::int64_t row_stride = 0, column_stride = 1;
};

/// What is done to a product's rows on their way to memory: act(row + bias) + added.
struct ProductEnding {
    const float* bias = nullptr;   ///< [columns of the product]
    const float* added = nullptr;  ///< of the product's shape, row after row
    bool relu = false;
};

/// Where a product goes, row after row.
struct ProductPlace {
    void* data = nullptr;
    NumberType type = NumberType::float32;
};

/// out = A·B with an ending, by oneDNN on all threads of OpenMP. Its kernels fit the vectors of any x86 CPU;
/// LibTorch's own float32 products are Intel's library, which has slower ones for other makers' CPUs.
/// bfloat16 is summed in float32; only some CPUs can.
///
/// LibTorch holds another oneDNN, and some symbols of the two are the same. So this function lives in a
/// library of its own, libroper-products.so, opened so that it sees its own oneDNN first; the symbol is
/// roper_multiply.
/// @param a, b     of one type and of shapes that fit; products of float32 are float32
/// @param threads  how many OpenMP is set to use: the product is prepared for them
/// @return         null, or what went wrong; `kNoMemory` if memory ran out
inline constexpr const char* kNoMemory = "no memory";
using Multiply = const char* (*)(const MatrixView& a, const MatrixView& b, const ProductEnding& ending,
                                 int threads, const ProductPlace& out);

/// The version of that oneDNN and the instructions it uses here: roper_products_version.
using ProductsVersion = const char* (*)();

}  // namespace roper
