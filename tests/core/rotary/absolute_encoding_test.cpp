#include "core/rotary/absolute_encoding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace roper {
namespace {

TEST(AbsoluteEncoding, SinusoidsByHand) {
    const Eigen::MatrixXd table = sinusoidTable(5, 6, 1000.0);
    ASSERT_EQ(table.rows(), 5);
    ASSERT_EQ(table.cols(), 6);
    // Frequencies 1, 1000^(−1/3) = 0.1 and 0.01.
    EXPECT_NEAR(table(3, 0), std::sin(3.0), 1e-12);
    EXPECT_NEAR(table(3, 1), std::cos(3.0), 1e-12);
    EXPECT_NEAR(table(3, 2), std::sin(0.3), 1e-12);
    EXPECT_NEAR(table(4, 5), std::cos(0.04), 1e-12);
    EXPECT_EQ(table(0, 4), 0.0);
    EXPECT_EQ(table(0, 5), 1.0);
}

// The product of two rows depends only on their distance, which is why sinusoids can carry relative
// positions.
TEST(AbsoluteEncoding, ProductsOfRowsDependOnTheDistance) {
    const Eigen::MatrixXd table = sinusoidTable(40, 16);
    for (int distance = 0; distance < 20; ++distance)
        for (int m = 0; m + distance < 40; ++m)
            EXPECT_NEAR(table.row(m).dot(table.row(m + distance)), table.row(0).dot(table.row(distance)),
                        1e-10);
}

TEST(AbsoluteEncoding, RefusesWhatIsNoTable) {
    EXPECT_THROW(sinusoidTable(0, 4), std::invalid_argument);
    EXPECT_THROW(sinusoidTable(4, 0), std::invalid_argument);
    EXPECT_THROW(sinusoidTable(4, 4, 1.0), std::invalid_argument);
}

}  // namespace
}  // namespace roper
