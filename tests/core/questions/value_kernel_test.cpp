#include "core/questions/value_kernel.h"

#include <gtest/gtest.h>

#include "core/rotary/head_vectors.h"
#include "tests/support/make_rotary.h"

namespace roper {
namespace {

TEST(ValueKernel, NormAndDirectionAreThoseOfTheKernelItself) {
    const Eigen::MatrixXd W_O = normalMatrix(20, 8, 1), W_V = normalMatrix(8, 20, 2);
    for (const Pairing pairing : {Pairing::half, Pairing::interleaved})
        for (const int width : {8, 4}) {
            const Rotary rotary = makeRotary(8, pairing, 50, FrequencyFormula::standard, width / 8.0);
            const ValueKernel kernel = valueKernel(W_O, W_V, rotary, 12);
            const Eigen::MatrixXd first = kernelAt(W_O, W_V, rotary, 0);
            EXPECT_LT((first - W_O * W_V).norm(), 1e-12);
            for (int distance = 0; distance < 12; ++distance) {
                const Eigen::MatrixXd K = kernelAt(W_O, W_V, rotary, distance);
                EXPECT_NEAR(kernel.norm[static_cast<std::size_t>(distance)], K.norm(), 1e-9 * K.norm());
                EXPECT_NEAR(kernel.cosine[static_cast<std::size_t>(distance)],
                            K.cwiseProduct(first).sum() / (K.norm() * first.norm()), 1e-9);
            }
            EXPECT_LT(kernel.cosine[3], 0.999) << "the rotation makes no difference here";
        }
}

// The output is Σ a K(n − j) x, equal to attention with rotated values and the inverse rotation.
TEST(ValueKernel, IsWhatRoperComputes) {
    const Eigen::MatrixXd W_O = normalMatrix(10, 6, 3), W_V = normalMatrix(6, 10, 4),
                          X = normalMatrix(5, 10, 5);
    const Rotary rotary = makeRotary(6, Pairing::half, 100);
    const auto rotation = [&](double m) { return rotationMatrix(rotary, m); };
    const Eigen::VectorXd a = Eigen::VectorXd::LinSpaced(5, 0.1, 0.3);
    Eigen::VectorXd by_kernel = Eigen::VectorXd::Zero(10), mixed = Eigen::VectorXd::Zero(6);
    constexpr int n = 4;
    for (int j = 0; j <= n; ++j) {
        by_kernel += a[j] * (kernelAt(W_O, W_V, rotary, n - j) * X.row(j).transpose());
        mixed += a[j] * (rotation(j) * (W_V * X.row(j).transpose()));
    }
    EXPECT_LT((by_kernel - W_O * (rotation(-n) * mixed)).norm(), 1e-12);
}

TEST(ValueKernel, WithoutRotationIsTheSameAtEveryDistance) {
    const ValueKernel kernel =
        valueKernel(normalMatrix(9, 4, 6), normalMatrix(4, 9, 7), Rotary{4, Pairing::half, {}}, 5);
    for (std::size_t distance = 0; distance < 5; ++distance) {
        EXPECT_EQ(kernel.norm[distance], kernel.norm[0]);
        EXPECT_NEAR(kernel.cosine[distance], 1, 1e-12);
    }
}

}  // namespace
}  // namespace roper
