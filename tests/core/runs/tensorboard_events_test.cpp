#include "core/runs/tensorboard_events.h"

#include <gtest/gtest.h>

#include <algorithm>
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
    std::string file = formatEventFileStart(1.5, Specification{});
    file += formatEvent({2.5, 300, {{"training/loss", 0.25F}, {"evaluation/correct", 112.0F}}});
    file += formatEvent({3.5, 400, {{"training/loss", std::numeric_limits<float>::quiet_NaN()}}});
    EXPECT_EQ(parseEvents(file).sessions, 1);
    const auto events = parseEvents(file).events;
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].wall_time, 2.5);
    EXPECT_EQ(events[0].step, 300);
    EXPECT_EQ(events[0].scalars[1], (std::pair<std::string, double>{"evaluation/correct", 112.0}));
    EXPECT_TRUE(std::isnan(events[1].scalars[0].second));
}

TEST(TensorboardEvents, ATornEndIsNoDamage) {
    const std::string first = formatEvent({1, 1, {{"a", 1.0F}}}), second = formatEvent({2, 2, {{"a", 2.0F}}});
    for (std::size_t cut = 0; cut < second.size(); ++cut) {
        const EventFile file = parseEvents(first + second.substr(0, cut));
        EXPECT_EQ(file.events.size(), 1U);
        EXPECT_FALSE(file.damaged);
    }
}

TEST(TensorboardEvents, ALaterSessionTakesThePlaceOfWhatItComputesAgain) {
    std::string file;
    for (int step = 1; step <= 5; ++step)
        file += formatEvent({1.0 * step, step, {{"a", 1.0F}}});
    file += formatSessionStart(6, 4);
    EXPECT_EQ(parseEvents(file).events.size(), 3U);
    file += formatEvent({7, 4, {{"a", 2.0F}}});
    const EventFile read = parseEvents(file + "torn");
    ASSERT_EQ(read.events.size(), 4U);
    EXPECT_EQ(read.events[2].step, 3);
    EXPECT_EQ(read.events[3].scalars[0].second, 2.0F);
    EXPECT_EQ(read.complete_bytes, file.size());
    EXPECT_EQ(read.sessions, 1);
    EXPECT_FALSE(read.damaged);
}

TEST(TensorboardEvents, OfADamagedFileAllOtherRecordsAreRead) {
    std::string whole;
    std::vector<std::size_t> begins;
    for (int step = 1; step <= 5; ++step) {
        begins.push_back(whole.size());
        whole += formatEvent({1.0 * step, step, {{"a", 1.0F}}});
    }
    for (std::size_t at = begins[1]; at < begins[4]; ++at) {
        std::string damaged = whole;
        damaged[at] ^= 0x40;
        const EventFile file = parseEvents(damaged);
        ASSERT_TRUE(file.damaged) << at;
        EXPECT_EQ(*file.damaged, *(std::upper_bound(begins.begin(), begins.end(), at) - 1));
        EXPECT_EQ(file.events.size(), 4U) << at;
    }
}

}  // namespace
}  // namespace roper
