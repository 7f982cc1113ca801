#include "core/tasks/random.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>

#include "core/tasks/task.h"

namespace roper {
namespace {

TEST(Random, IsTheSameEverywhere) {
    // Fixed for good: a change would change every run's data. Worked out by an independent program from the
    // published algorithms.
    Random random(1, Stream::training, 2);
    for (const std::uint64_t expected : {16664065151221032123U, 12547599364808068915U, 18164505804216777604U})
        EXPECT_EQ(random.next(), expected);
}

TEST(Random, NeighboursDoNotMeet) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (const Stream stream : {Stream::training, Stream::problems, Stream::validation})
            for (std::uint64_t index = 0; index < 40; ++index)
                seen.insert(Random(seed, stream, index).next());
    EXPECT_EQ(seen.size(), 40U * 3 * 40);
}

TEST(Random, BetweenIsEvenAndKeepsItsBounds) {
    Random random(5, Stream::training, 0);
    std::array<int, 7> counts{};
    for (int i = 0; i < 70000; ++i) {
        const std::int64_t value = random.between(-3, 3);
        ASSERT_GE(value, -3);
        ASSERT_LE(value, 3);
        ++counts[static_cast<std::size_t>(value + 3)];
    }
    for (const int count : counts)
        EXPECT_NEAR(count, 10000, 400);
    EXPECT_EQ(random.between(4, 4), 4);
    EXPECT_NO_THROW(
        random.between(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
}

TEST(Streams, CanBeEnteredAnywhere) {
    for (const char* name : {"addition", "index", "prefix"}) {
        TaskSettings settings;
        settings.name = name;
        const auto task = makeTask(settings);
        const std::string once = task->sequence(4, Stream::training, 1000, 200);
        for (std::uint64_t i = 990; i < 1000; ++i)
            task->sequence(4, Stream::training, i, 200);
        EXPECT_EQ(task->sequence(4, Stream::training, 1000, 200), once);
        EXPECT_NE(task->sequence(5, Stream::training, 1000, 200), once);
        EXPECT_NE(task->sequence(4, Stream::validation, 1000, 200), once);
    }
    TaskSettings unknown;
    unknown.name = "multiplication";
    EXPECT_THROW(makeTask(unknown), std::invalid_argument);
}

TEST(Vocabulary, NamesTheCharacterThatIsMissing) {
    const Vocabulary vocabulary("ab");
    try {
        vocabulary.encode("abz");
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("'z' at place 3"), std::string::npos);
    }
    EXPECT_THROW(Vocabulary("aba"), std::invalid_argument);
}

}  // namespace
}  // namespace roper
