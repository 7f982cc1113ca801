#include "core/questions/wilson_interval.h"

#include <gtest/gtest.h>

namespace roper {
namespace {

// scipy.stats.binomtest(k, n).proportion_ci(method="wilson"), scipy 1.10.1
TEST(WilsonInterval, IsThatOfScipy) {
    const auto is = [](std::int64_t successes, std::int64_t trials, double low, double high) {
        const auto [a, b] = wilsonInterval(successes, trials);
        EXPECT_NEAR(a, low, 1e-9);
        EXPECT_NEAR(b, high, 1e-9);
    };
    is(5, 10, 0.236593090512564, 0.7634069094874361);
    is(0, 64, 0.0, 0.05662405979280534);
    is(64, 64, 0.9433759402071946, 1.0);
    is(61, 64, 0.8710034625990631, 0.983930983213707);
    is(1, 3, 0.06149194472039626, 0.7923403991979523);
    EXPECT_EQ(wilsonInterval(0, 0), (std::pair{0.0, 1.0}));
}

}  // namespace
}  // namespace roper
