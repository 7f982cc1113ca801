#include "core/operators/dense.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/model/kernel_attention.h"
#include "core/operators/products.h"
#include "tests/support/limited_process.h"

namespace roper {
namespace {

using Tensors = std::vector<at::Tensor>;
using Computation = std::function<at::Tensor(const Tensors&)>;

/// The output and gradients of a computation, given the same random gradient of the output.
Tensors outputAndGradients(const Computation& compute, const Tensors& given, at::ScalarType type) {
    Tensors inputs;
    for (const at::Tensor& tensor : given)
        inputs.push_back(
            tensor.detach().to(type, /*non_blocking=*/false, /*copy=*/true).requires_grad_(true));
    const at::Tensor out = compute(inputs);
    at::manual_seed(9);
    out.backward(at::randn(out.sizes(), at::kFloat).to(type));
    Tensors all = {out.detach()};
    for (const at::Tensor& input : inputs)
        all.push_back(input.grad());
    return all;
}

/// Compares our operators in float32 with LibTorch's in float64.
void expectAgreement(const Computation& ours, const Computation& theirs, const Tensors& given,
                     double most = 3e-6) {
    const Tensors found = outputAndGradients(ours, given, at::kFloat);
    const Tensors exact = outputAndGradients(theirs, given, at::kDouble);
    for (std::size_t i = 0; i < exact.size(); ++i) {
        const double size = std::max(1.0, exact[i].abs().max().item<double>());
        EXPECT_LT((found[i] - exact[i]).abs().max().item<double>() / size, most) << "tensor " << i;
    }
}

// Widths that fill whole vector registers and widths that do not; few rows and many.
struct Shape {
    std::int64_t B, T, in, out;
};
constexpr Shape kShapes[] = {{1, 1, 3, 5}, {2, 7, 24, 72}, {3, 50, 128, 96}, {1, 300, 33, 17}};

TEST(Dense, LinearAgreesWithFloat64) {
    at::manual_seed(1);
    for (const Shape& s : kShapes)
        expectAgreement([](const Tensors& t) { return denseLinear(t[0], t[1], t[2]); },
                        [](const Tensors& t) { return at::linear(t[0], t[1], t[2]); },
                        {at::randn({s.B, s.T, s.in}), at::randn({s.out, s.in}), at::randn({s.out})});
}

// Factors are rounded to 8 bits; sums are not. The inputs are already rounded, so that no ReLU changes its
// sign.
TEST(Dense, OfBFloat16AgreesWithFloat64) {
    constexpr double kMax = 1e-2;
    at::manual_seed(4);
    const auto rounded = [](const at::Tensor& x) { return x.to(at::kBFloat16); };
    for (const Shape& s : kShapes) {
        const auto given = [&](at::IntArrayRef sizes, double size) {
            return rounded(at::randn(sizes) * size).to(at::kFloat);
        };
        const double up_size = 1 / std::sqrt(static_cast<double>(s.in)),
                     down_size = 1 / std::sqrt(static_cast<double>(s.out));
        const at::Tensor x = given({s.B, s.T, s.in}, 1), up = given({s.out, s.in}, up_size),
                         down = given({s.in, s.out}, down_size), bias = at::randn({s.out}),
                         down_bias = at::randn({s.in}), residual = at::randn({s.B, s.T, s.out});
        for (const at::ScalarType out : {at::kFloat, at::kBFloat16})
            expectAgreement(
                [&](const Tensors& t) { return denseLinear(rounded(t[0]), t[1], t[2], out).to(at::kFloat); },
                [](const Tensors& t) { return at::linear(t[0], t[1], t[2]); }, {x, up, bias}, kMax);
        expectAgreement(
            [&](const Tensors& t) { return denseLinear(rounded(t[0]), t[1], t[2], at::kFloat, t[3]); },
            [](const Tensors& t) { return at::linear(t[0], t[1], t[2]) + t[3]; }, {x, up, bias, residual},
            kMax);
        for (const bool gelu : {true, false})
            expectAgreement(
                [&](const Tensors& t) {
                    return denseFeedForward(rounded(t[0]), t[1], t[2], t[3], t[4], gelu, t[0]);
                },
                [&](const Tensors& t) {
                    const at::Tensor hidden = at::linear(t[0], t[1], t[2]);
                    return t[0] + at::linear(gelu ? at::gelu(hidden) : at::relu(hidden), t[3], t[4]);
                },
                {x, up, bias, down, down_bias}, kMax);
        if (s.in < 8) continue;  // the deviation of so few numbers is nearly 0
        expectAgreement(
            [&](const Tensors& t) {
                return denseNorm(t[0], t[1], t[2], 1e-5, at::kBFloat16).normal.to(at::kFloat);
            },
            [](const Tensors& t) { return at::layer_norm(t[0], {t[0].size(-1)}, t[1], t[2], 1e-5); },
            {x, at::randn({s.in}), down_bias}, kMax);
    }
}

TEST(Dense, LinearAddsAResidual) {
    at::manual_seed(2);
    for (const Shape& s : kShapes)
        expectAgreement([](const Tensors& t) { return denseLinear(t[0], t[1], t[2], at::kFloat, t[3]); },
                        [](const Tensors& t) { return at::linear(t[0], t[1], t[2]) + t[3]; },
                        {at::randn({s.B, s.T, s.in}), at::randn({s.out, s.in}), at::randn({s.out}),
                         at::randn({s.B, s.T, s.out})});
}

TEST(Dense, FeedForwardAgreesWithFloat64) {
    at::manual_seed(3);
    for (const Shape& s : kShapes)
        for (const bool gelu : {true, false})
            for (const bool residual : {true, false}) {
                Tensors given = {at::randn({s.B, s.T, s.in}), at::randn({s.out, s.in}), at::randn({s.out}),
                                 at::randn({s.in, s.out}), at::randn({s.in})};
                if (residual) given.push_back(at::randn({s.B, s.T, s.in}));
                expectAgreement(
                    [&](const Tensors& t) {
                        return denseFeedForward(t[0], t[1], t[2], t[3], t[4], gelu,
                                                residual ? t[5] : at::Tensor());
                    },
                    [&](const Tensors& t) {
                        const at::Tensor hidden = at::linear(t[0], t[1], t[2]);
                        const at::Tensor answer =
                            at::linear(gelu ? at::gelu(hidden) : at::relu(hidden), t[3], t[4]);
                        return residual ? answer + t[5] : answer;
                    },
                    given);
            }
}

TEST(Dense, NormPassesItsInputOn) {
    at::manual_seed(4);
    for (const Shape& s : kShapes) {
        if (s.in < 2) continue;
        const Tensors given = {at::randn({s.B, s.T, s.in}) * 3 + 1, at::randn({s.in}), at::randn({s.in})};
        expectAgreement(
            [](const Tensors& t) {
                const Normalized made = denseNorm(t[0], t[1], t[2], 1e-5);
                return made.normal * 2 + made.x;
            },
            [](const Tensors& t) {
                return at::layer_norm(t[0], {t[0].size(2)}, t[1], t[2], 1e-5) * 2 + t[0];
            },
            given);
        expectAgreement(
            [](const Tensors& t) { return denseNorm(t[0], t[1], t[2], 1e-5).normal; },
            [](const Tensors& t) { return at::layer_norm(t[0], {t[0].size(2)}, t[1], t[2], 1e-5); }, given);
    }
}

TEST(Dense, NormLetsGradientsPassWhereNobodyAsksForTheNormalised) {
    const at::Tensor x = at::randn({1, 2, 8}).requires_grad_(true), ones = at::ones({8}).requires_grad_(true);
    denseNorm(x, ones, ones, 1e-5).x.sum().backward();
    EXPECT_TRUE(x.grad().eq(1).all().item<bool>());
}

// oneDNN's ReLU turns NaN into 0, but NaN must remain visible.
TEST(Dense, NotANumberIsPassedOn) {
    const at::Tensor x = at::ones({1, 2, 8}), weight = at::ones({8, 8}), bias = at::zeros({8});
    x[0][1][3] = NAN;
    EXPECT_TRUE(denseFeedForward(x, weight, bias, weight, bias, false, x)[0][1][3].isnan().item<bool>());
    for (const at::Tensor& out :
         {denseLinear(x, weight, bias), denseFeedForward(x, weight, bias, weight, bias, true),
          denseNorm(x, bias, bias, 1e-5).normal}) {
        EXPECT_TRUE(out[0][1].isnan().all().item<bool>());
        EXPECT_FALSE(out[0][0].isnan().any().item<bool>());
    }
    const at::Tensor fine = at::ones({1, 2, 8}).requires_grad_(true), broken = at::full({8, 8}, NAN);
    denseFeedForward(fine, broken, bias, weight, bias, false, fine).sum().backward();
    EXPECT_TRUE(fine.grad().isnan().any().item<bool>());
}

TEST(Dense, ProductsAreOneDnns) {
    if (kSanitizer) GTEST_SKIP() << "they do not support libraries that resolve their own symbols first";
    EXPECT_EQ(reasonWithoutOneDnn(), "");
}

// The order of the threads is random, but the result must not depend on it.
TEST(Dense, SumsDoNotDependOnTheThreads) {
    if (kSanitizer)
        GTEST_SKIP() << "they do not see the barriers of libgomp, which they were not compiled with";
    at::manual_seed(5);
    const at::Tensor qkv = at::randn({3, 40, 96}), weight = at::randn({96}), bias = at::randn({96});
    PassPositions pass;
    const at::Tensor table = at::rand({40, 8});
    pass.queries = pass.keys = pass.values = pass.outputs = {{table, table}};
    const auto compute = [&](const Tensors& t) {
        return fusedAttention(denseNorm(t[0], t[1], t[2], 1e-5).normal, {2, 2, 16, false}, {}, Pairing::half,
                              pass, 0);
    };
    const int before = at::get_num_threads();
    at::set_num_threads(1);
    const Tensors one = outputAndGradients(compute, {qkv, weight, bias}, at::kFloat);
    at::set_num_threads(3);
    const Tensors three = outputAndGradients(compute, {qkv, weight, bias}, at::kFloat);
    at::set_num_threads(before);
    for (std::size_t i = 0; i < one.size(); ++i)
        EXPECT_TRUE(one[i].equal(three[i])) << "tensor " << i;
}

// Shapes on both sides of the thresholds by which oneDNN chooses an algorithm: few rows and many, few columns
// and many, more columns than the inner dimension, tall gradients of weights; sizes that fill vector
// registers and others.
struct ProductShape {
    std::int64_t M, K, N;
};
constexpr ProductShape kProductShapes[] = {
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
void expectProducts(const ProductShape& shape, bool a_by_columns, bool b_by_columns) {
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
    for (const ProductShape& shape : kProductShapes)
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
