#include "core/runs/tensorboard_events.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace roper {
namespace {

// RFC 3720, section B.4.
TEST(TensorboardEvents, ChecksumsAreThoseOfTheStandard) {
    EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
    EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
    EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
}

TEST(TensorboardEvents, ReadBackAsWritten) {
    std::string file = formatEventFileStart(1.5);
    file += formatEvent({2.5, 300, {{"training/loss", 0.25F}, {"evaluation/correct", 112.0F}}});
    file += formatEvent({3.5, 400, {{"training/loss", std::numeric_limits<float>::quiet_NaN()}}});
    const auto events = parseEvents(file);
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].wall_time, 2.5);
    EXPECT_EQ(events[0].step, 300);
    EXPECT_EQ(events[0].scalars[1], (std::pair<std::string, float>{"evaluation/correct", 112.0F}));
    EXPECT_TRUE(std::isnan(events[1].scalars[0].second));
}

TEST(TensorboardEvents, ATornOrDamagedRecordEndsTheFile) {
    const std::string first = formatEvent({1, 1, {{"a", 1.0F}}}), second = formatEvent({2, 2, {{"a", 2.0F}}});
    for (std::size_t cut = 0; cut < second.size(); ++cut)
        EXPECT_EQ(parseEvents(first + second.substr(0, cut)).size(), 1U);
    std::string damaged = first + second;
    damaged[first.size() + 14] ^= 1;
    EXPECT_EQ(parseEvents(damaged).size(), 1U);
    std::string huge = first;
    huge[7] = '\x7f';  // a length beyond everything
    EXPECT_TRUE(parseEvents(huge).empty());
}

}  // namespace
}  // namespace roper
