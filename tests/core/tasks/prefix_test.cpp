#include "core/tasks/prefix.h"

#include <gtest/gtest.h>

#include <set>

#include <cmath>
#include <numeric>

namespace roper {
namespace {

TEST(Prefix, EverySubstringOccursBefore) {
    const PrefixTask task(12, 2, 6);
    for (std::uint64_t i = 0; i < 200; ++i) {
        const std::string text = task.sequence(9, Stream::training, i, 400);
        ASSERT_EQ(text.size(), 400U);
        std::string letters;
        std::size_t at = 0;
        bool first = true;
        while (true) {
            const std::size_t mark = text.find('>', at);
            if (mark == std::string::npos) break;
            const std::size_t fresh = mark - at;
            EXPECT_GE(fresh, first ? 14U : 2U);
            EXPECT_LE(fresh, first ? 18U : 6U);
            letters += text.substr(at, fresh);
            const std::string substring = text.substr(mark + 1, 12);
            EXPECT_NE(letters.find(substring), std::string::npos) << text;
            letters += substring;
            at = mark + 1 + substring.size();
            first = false;
        }
    }
}

TEST(Prefix, FreshLettersCostLn4AndRecalledOnesNothingOnceUnique) {
    const PrefixTask task(4, 2, 2);
    // Letters abcdab are drawn, then "cdab" is repeated: three starts are possible, and c decides.
    const std::vector<double> costs = task.idealSurprisals("abcdab>cdab");
    ASSERT_EQ(costs.size(), 11U);
    for (int i = 0; i < 6; ++i)
        EXPECT_NEAR(costs[static_cast<std::size_t>(i)], std::log(4.0), 1e-12);
    EXPECT_NEAR(costs[6], 0.0, 1e-12);            // the length of the part is certain
    EXPECT_NEAR(costs[7], std::log(3.0), 1e-12);  // abcd, bcda, cdab
    for (std::size_t i = 8; i < 11; ++i)
        EXPECT_NEAR(costs[i], 0.0, 1e-12);
}

TEST(Prefix, AnUncertainEndCostsItsChance) {
    const PrefixTask task(1, 0, 1);
    // One letter is certain; then the part ends with probability 1/2.
    EXPECT_NEAR(task.idealSurprisals("a>")[1], std::log(2.0), 1e-12);
    EXPECT_NEAR(task.idealSurprisals("ab")[1], std::log(4.0) + std::log(2.0), 1e-12);
}

/// The lower bound is a mean of true costs, so on average no model of letter frequencies can be below it.
TEST(Prefix, LowerBoundLiesBelowTheEntropyOfLettersAndAboveNothing) {
    const PrefixTask task(24, 4, 8);
    double lower_bound = 0;
    for (std::uint64_t i = 0; i < 20; ++i)
        lower_bound += task.lossLowerBound(task.sequence(0, Stream::validation, i, 193)).value() / 20;
    EXPECT_GT(lower_bound, 0.3);
    EXPECT_LT(lower_bound, std::log(4.0));
}

// A letter is determined if every earlier position that matches so far continues with it; verified by a
// separate search.
TEST(Prefix, DeterminedLettersAreThoseThatCannotBeOthers) {
    const PrefixTask task(8, 2, 5);
    int determined = 0;
    for (std::uint64_t index = 0; index < 20; ++index) {
        const std::string text = task.sequence(3, Stream::validation, index, 200);
        const std::vector<bool> certain = task.determined(text);
        std::string letters;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const std::size_t mark = text.rfind('>', i);
            const bool inside = mark != std::string::npos && i > mark && i <= mark + 8;
            bool expected = false;
            if (inside) {
                std::string before = text.substr(0, mark);
                std::erase(before, '>');
                const std::string seen = text.substr(mark + 1, i - mark - 1);
                std::set<char> next;
                for (std::size_t start = 0; start + 8 <= before.size(); ++start)
                    if (before.compare(start, seen.size(), seen) == 0)
                        next.insert(before[start + seen.size()]);
                expected = next.size() == 1;
            }
            EXPECT_EQ(certain[i], expected) << text << " at " << i;
            determined += expected ? 1 : 0;
        }
    }
    EXPECT_GT(determined, 500);
}

TEST(Prefix, RefusesTextOfAnotherKind) {
    const PrefixTask task(4, 2, 2);
    EXPECT_THROW(task.idealSurprisals("abcdabc>"), std::invalid_argument);  // part too long
    EXPECT_THROW(task.idealSurprisals("abcd>"), std::invalid_argument);     // part too short
    EXPECT_THROW(task.idealSurprisals("aaaaaa>bbbb"), std::invalid_argument);
    EXPECT_THROW(PrefixTask(0, 1, 2), std::invalid_argument);
    EXPECT_THROW(PrefixTask(3, 4, 2), std::invalid_argument);
}

}  // namespace
}  // namespace roper
