#include "core/tokenizers/keyed_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <unordered_map>

namespace roper {
namespace {

template <class Map>
std::size_t fullestBucket(const Map& map) {
    std::size_t most = 0;
    for (std::size_t bucket = 0; bucket < map.bucket_count(); ++bucket)
        most = std::max(most, map.bucket_size(bucket));
    return most;
}

/// The standard library's hash of an integer is that integer, and its bucket counts are known, so a prepared
/// list of merges could put all merges into one bucket.
TEST(KeyedHash, NumbersThatAreMultiplesDoNotShareABucket) {
    constexpr std::size_t kCount = 20'000;
    std::unordered_map<std::uint64_t, int, KeyedHash> map;
    map.reserve(kCount);
    const std::size_t step = map.bucket_count();
    for (std::size_t i = 0; i < kCount; ++i)
        map[i * step] = 0;
    EXPECT_EQ(map.bucket_count(), step);
    EXPECT_LT(fullestBucket(map), 32U);
}

TEST(KeyedHash, TextsThatAreAlikeDoNotShareABucket) {
    std::unordered_map<std::string, int, KeyedHash> map;
    for (std::size_t length = 0; length < 2000; ++length)
        map[std::string(length, '\0')] = map["a" + std::to_string(length)] = 0;
    EXPECT_EQ(map.size(), 4000U);
    EXPECT_LT(fullestBucket(map), 32U);
}

}  // namespace
}  // namespace roper
