#include "core/kernels/packed_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "core/kernels/attention.h"
#include "core/pretrained/element_types/element_type.h"

namespace roper {
namespace {

struct PackedType {
    Packing packing;
    ElementType type;
    std::vector<std::size_t> scales;  ///< offsets of the float16 in a block
};

const std::vector<PackedType> kPackedTypes = {
    {Packing::f16, ElementType::F16, {0}},      {Packing::bf16, ElementType::BF16, {}},
    {Packing::q8_0, ElementType::Q8_0, {0}},    {Packing::q4_0, ElementType::Q4_0, {0}},
    {Packing::q4_1, ElementType::Q4_1, {0, 2}}, {Packing::q5_0, ElementType::Q5_0, {0}},
    {Packing::q5_1, ElementType::Q5_1, {0, 2}}, {Packing::q4_k, ElementType::Q4_K, {0, 2}},
    {Packing::q5_k, ElementType::Q5_K, {0, 2}}, {Packing::q6_k, ElementType::Q6_K, {208}},
};

/// Random bytes, in which every float16 is finite, and many are subnormal or negative.
std::vector<std::byte> randomBlocks(const PackedType& type, std::size_t count, std::mt19937& random) {
    const std::size_t bytes = bytesPerBlock(type.type);
    std::vector<std::byte> blocks(count * bytes);
    for (std::byte& byte : blocks)
        byte = static_cast<std::byte>(random());
    const auto write = [&](std::size_t at, std::uint16_t number) {
        std::memcpy(blocks.data() + at, &number, sizeof number);
    };
    for (std::size_t i = 0; i < count; ++i) {
        for (const std::size_t offset : type.scales)
            write(i * bytes + offset,
                  static_cast<std::uint16_t>((random() & 0x8000U) | (random() % 0x2000U)));
        if (type.type == ElementType::BF16)
            write(i * bytes,
                  static_cast<std::uint16_t>((random() & 0x8000U) | (0x3E00U + random() % 0x200U)));
    }
    return blocks;
}

/// Calls test(packed type, columns of the matrix) for every instruction set that this computer supports.
template <class Test>
void forEveryPacking(Test test) {
    for (const std::string& target : kernelTargets()) {
        selectKernelTarget(target);
        SCOPED_TRACE(target);
        EXPECT_TRUE(canMultiplyPacked() || target == "portable");
        if (!canMultiplyPacked()) continue;
        for (const PackedType& type : kPackedTypes) {
            SCOPED_TRACE(nameOf(type.type));
            const std::size_t block = elementsPerBlock(type.type);
            for (const std::size_t columns : {3 * block, block == 1 ? 53 : 2 * block})
                test(type, columns);
        }
    }
    selectKernelTarget("");
}

TEST(PackedProduct, IsThatOfTheDecodedMatrix) {
    forEveryPacking([](const PackedType& type, std::size_t K) {
        constexpr std::size_t N = 7, kStride = N + 2;
        std::mt19937 random(5);
        std::normal_distribution<float> normal;
        const auto matrix = randomBlocks(type, N * K / elementsPerBlock(type.type), random);
        std::vector<float> decoded(N * K);
        decodeElements(type.type, matrix, decoded);
        for (std::size_t M = 1; M <= PackedProductInput::kMaxRows; ++M) {
            std::vector<float> x(M * K), y(M * kStride, -1);
            for (float& number : x)
                number = normal(random);
            multiplyPacked(type.packing, matrix.data(), N, {x.data(), M, K}, y.data(), kStride);
            for (std::size_t m = 0; m < M; ++m)
                for (std::size_t n = 0; n < kStride; ++n) {
                    double product = 0, magnitude = 0;
                    for (std::size_t k = 0; n < N && k < K; ++k) {
                        const double term = static_cast<double>(x[m * K + k]) * decoded[n * K + k];
                        product += term;
                        magnitude += std::abs(term);
                    }
                    if (n >= N)
                        EXPECT_EQ(y[m * kStride + n], -1) << "outside the product";
                    else
                        EXPECT_NEAR(y[m * kStride + n], product, 1e-6 * magnitude) << M << " rows, " << n;
                }
        }
    });
}

TEST(PackedProduct, IsNotFiniteIfAScaleIsNot) {
    forEveryPacking([](const PackedType& type, std::size_t K) {
        std::mt19937 random(2);
        const std::vector<float> x(K, 1);
        for (const std::uint16_t number :
             std::initializer_list<std::uint16_t>{0x7C00, 0xFC00, 0x7E01}) {  // ∞, −∞, NaN as float16
            for (const std::size_t scale : type.scales) {
                auto row = randomBlocks(type, K / elementsPerBlock(type.type), random);
                std::memcpy(row.data() + scale, &number, sizeof number);
                float y = 0;
                multiplyPacked(type.packing, row.data(), 1, {x.data(), 1, K}, &y, 1);
                EXPECT_FALSE(std::isfinite(y)) << number << " at " << scale;
            }
        }
    });
}

TEST(PackedProduct, DoesNotDependOnHowRowsAreDivided) {
    forEveryPacking([](const PackedType& type, std::size_t K) {
        constexpr std::size_t N = 6;
        std::mt19937 random(9);
        std::normal_distribution<float> normal;
        const auto matrix = randomBlocks(type, N * K / elementsPerBlock(type.type), random);
        std::vector<float> x(K), whole(N), one_by_one(N);
        for (float& number : x)
            number = normal(random);
        const PackedProductInput input(x.data(), 1, K);
        multiplyPacked(type.packing, matrix.data(), N, input, whole.data(), N);
        for (std::size_t n = 0; n < N; ++n)
            multiplyPacked(type.packing, matrix.data() + n * (matrix.size() / N), 1, input,
                           one_by_one.data() + n, N);
        EXPECT_EQ(one_by_one, whole);
    });
}

}  // namespace
}  // namespace roper
