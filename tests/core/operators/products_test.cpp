#include "core/operators/products.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace roper {
namespace {

// Shapes on both sides of the thresholds by which oneDNN chooses an algorithm: few rows and many, few columns
// and many, more columns than the inner dimension, tall gradients of weights; sizes that fill vector
// registers and others.
struct Shape {
    std::int64_t M, K, N;
};
constexpr Shape kShapes[] = {
    {0, 8, 8},      {1, 1, 1},      {1, 128, 384},    {63, 18, 7},   {64, 18, 7},     {64, 18, 1},
    {65, 1, 97},    {300, 128, 97}, {257, 97, 256},   {70, 97, 257}, {100, 512, 512}, {90, 520, 513},
    {256, 700, 40}, {257, 700, 40}, {512, 1000, 128}, {300, 800, 1}, {300, 700, 257}, {40, 700, 96}};

/// A matrix stored in row-major or column-major order.
at::Tensor matrix(std::int64_t rows, std::int64_t columns, bool by_columns) {
    return by_columns ? at::randn({columns, rows}).t() : at::randn({rows, columns});
}

double largest(const at::Tensor& numbers) {
    return numbers.numel() == 0 ? 0 : numbers.abs().max().item<double>();
}

/// Compares every epilogue with float64.
void expectProducts(const Shape& shape, bool a_by_columns, bool b_by_columns) {
    SCOPED_TRACE(std::to_string(shape.M) + " × " + std::to_string(shape.K) + " × " + std::to_string(shape.N) +
                 (a_by_columns ? ", A by columns" : "") + (b_by_columns ? ", B by columns" : ""));
    const at::Tensor a = matrix(shape.M, shape.K, a_by_columns), b = matrix(shape.K, shape.N, b_by_columns);
    const at::Tensor bias = at::randn({shape.N}), added = at::randn({shape.M, shape.N});
    const at::Tensor exact = a.to(at::kDouble).mm(b.to(at::kDouble));
    const double most = 2e-7 * std::sqrt(static_cast<double>(shape.K));
    const auto expect = [&](const at::Tensor& with_bias, const at::Tensor& with_added, bool relu) {
        at::Tensor expected = exact;
        if (with_bias.defined()) expected = expected + with_bias;
        if (relu) expected = expected.relu();
        if (with_added.defined()) expected = expected + with_added;
        const at::Tensor out = at::full({shape.M, shape.N}, std::nan(""));
        multiplyInto(out, a, b, with_bias, with_added, relu);
        EXPECT_LE(largest(out - expected), most * std::max(1.0, largest(expected)))
            << "bias " << with_bias.defined() << ", added " << with_added.defined() << ", ReLU " << relu;
        const at::Tensor again = at::empty_like(out);
        multiplyInto(again, a, b, with_bias, with_added, relu);
        EXPECT_TRUE(again.equal(out)) << "the same product differs from time to time";
    };
    for (const at::Tensor& with_bias : {at::Tensor(), bias})
        for (const at::Tensor& with_added : {at::Tensor(), added})
            for (const bool relu : {false, true})
                expect(with_bias, with_added, relu);
}

TEST(Products, AgreeWithFloat64) {
    at::manual_seed(5);
    for (const Shape& shape : kShapes)
        for (const bool a_by_columns : {false, true})
            for (const bool b_by_columns : {false, true})
                expectProducts(shape, a_by_columns, b_by_columns);
}

TEST(Products, NotANumberStaysInItsRow) {
    at::manual_seed(6);
    const at::Tensor a = at::randn({200, 128}), b = at::randn({128, 130});
    a[17][5] = std::nan("");
    const at::Tensor out = at::empty({200, 130});
    multiplyInto(out, a, b);
    const at::Tensor bad = out.isnan().sum(1);
    EXPECT_EQ(bad[17].item<std::int64_t>(), 130);
    EXPECT_EQ(bad.sum().item<std::int64_t>(), 130);
}

}  // namespace
}  // namespace roper
