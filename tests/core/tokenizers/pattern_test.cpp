#include "core/tokenizers/pattern.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/tokenizers/tokenizer.h"

namespace roper {
namespace {

using Places = std::vector<std::pair<std::size_t, std::size_t>>;

Places matchesOf(const std::string& expression, const std::string& text,
                 std::uint64_t max_steps = EncodingBudget::kMaxSteps) {
    Places places;
    EncodingBudget budget(text.size(), max_steps);
    Pattern(expression).forEachMatch(text, budget, [&](std::size_t begin, std::size_t end) {
        places.emplace_back(begin, end);
    });
    return places;
}

std::uint64_t stepsOf(const std::string& expression, const std::string& text) {
    EncodingBudget budget(text.size());
    Pattern(expression).forEachMatch(text, budget, [](std::size_t, std::size_t) {});
    return budget.steps();
}

std::string times(std::size_t count, const std::string& text) {
    std::string made;
    for (std::size_t i = 0; i < count; ++i)
        made += text;
    return made;
}

/// @param part  of the error message
void expectRefused(const std::string& expression, const std::string& part) {
    try {
        const Pattern pattern(expression);
        ADD_FAILURE() << expression << " is read";
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
        EXPECT_LT(std::string(error.what()).size(), 400U) << error.what();
    }
}

TEST(Pattern, MatchesEmptyPlacesAsHuggingFaceDoes) {
    EXPECT_EQ(matchesOf("x*", "abxx"), (Places{{0, 0}, {1, 1}, {2, 4}}));
    EXPECT_EQ(matchesOf("", "é日"), (Places{{0, 0}, {2, 2}, {5, 5}}));
    EXPECT_EQ(matchesOf("(?=[A-Z])", "aBéC"), (Places{{1, 1}, {4, 4}}));
    EXPECT_EQ(matchesOf("(?=(\\d{3})+(?!\\d))", "1234567"), (Places{{1, 1}, {4, 4}}));
    EXPECT_EQ(matchesOf("a\\K", "aa"), (Places{{1, 1}, {2, 2}}));
    EXPECT_EQ(matchesOf("^|$", "a\nb"), (Places{{0, 0}, {1, 1}, {2, 2}, {3, 3}})) << "of each line";
}

/// As in Oniguruma 6.9.10, the library of tokenizers 0.23.3: ² is a word character, but not within brackets,
/// and a script contains only its own characters.
TEST(Pattern, ClassesHaveOnigurumasMembers) {
    const auto matches = [](const std::string& expression, const std::string& character) {
        return !matchesOf(expression, character).empty();
    };
    for (const char* const word : {"a", "_", "é", "\u0301", "日", "ⅷ", "Ⓐ", "٣"}) {
        EXPECT_TRUE(matches("\\w", word) && matches("[\\w]", word) && !matches("\\W", word)) << word;
        EXPECT_FALSE(matches("[^\\w]", word)) << word;
    }
    for (const char* const number : {"²", "¼"})
        EXPECT_TRUE(matches("\\w", number) && !matches("[\\w]", number) && !matches("\\W", number)) << number;
    for (const char* const other : {"①", "⁴", "👍", "\u200d", "。", " "})
        EXPECT_TRUE(!matches("\\w", other) && !matches("[\\w]", other) && matches("\\W", other)) << other;
    EXPECT_EQ(matchesOf("\\b", "a²=²"), (Places{{0, 0}, {3, 3}, {4, 4}, {6, 6}}));
    EXPECT_TRUE(matches("\\p{Han}", "日") && matches("\\p{^Han}", "。") && matches("\\P{Han}", "、"));
    EXPECT_TRUE(matches("[^\\S\\n]", "\u3000") && !matches("[^\\S\\n]", "\u180e"));
    EXPECT_EQ(matchesOf("e\\u0301", "ee\u0301"), (Places{{1, 4}}));
    expectRefused("[\\W]", "\\W within brackets");
}

/// Characters of Unicode 15 and 16 have their categories regardless of PCRE2's version.
TEST(Pattern, KnowsLaterCharacters) {
    EXPECT_EQ(matchesOf("\\p{So}", "a\U0001FAE8b"), (Places{{1, 5}})) << "an emoji of Unicode 15";
    EXPECT_EQ(matchesOf("\\p{Lo}+", "\U0002EBF0\U000113B7-"), (Places{{0, 8}}));
    EXPECT_EQ(matchesOf("\\p{Han}", "\U0002EBF0\U000113B7"), (Places{{0, 4}}));
    EXPECT_TRUE(matchesOf("\\p{Cn}", "\U0001FAE8\U0002EBF0").empty());
}

TEST(Pattern, ThatGoesBackwardsIsRefused) {
    expectRefused("(?=a\\K)", "cannot be compiled");
    try {
        matchesOf("(?(DEFINE)(?<k>b\\K))(?=a(?&k))", "xab", 1000);
        ADD_FAILURE() << "it has matches";
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("goes backwards"), std::string::npos) << error.what();
    }
}

TEST(Pattern, ThatTriesEverythingEnds) {
    EXPECT_THROW(matchesOf("^(a|aa)+$", times(200, "a") + "b", 1'000'000), std::invalid_argument);
}

/// Each match takes few steps; PCRE2's own limit starts afresh with each.
TEST(Pattern, AllMatchesShareOneBudget) {
    const std::string expression = "(?:a+)+c|a", part = times(9, "a") + "b";
    EXPECT_NO_THROW(matchesOf(expression, part, 100'000));
    EXPECT_THROW(matchesOf(expression, times(1000, part), 100'000), std::invalid_argument);
}

/// PCRE2's own limit also starts afresh at each position of a search.
TEST(Pattern, AllPlacesOfASearchShareOneBudget) {
    const std::string expression = "(?:a+)+c", part = times(9, "a") + "b";
    EXPECT_NO_THROW(matchesOf(expression, part + "c", 100'000));
    EXPECT_THROW(matchesOf(expression, times(1000, part) + "c", 100'000), std::invalid_argument);
}

TEST(Pattern, WhatItReadsAheadIsCounted) {
    constexpr std::uint64_t kLength = 2000;
    const std::string text = times(kLength, "a");
    EXPECT_GE(stepsOf("a(?=[^z]*)", text), kLength * kLength / 2);
    EXPECT_GE(stepsOf("(?>a*)b|a", text + "b"), kLength);
    // An item that fails at its end has read just as much.
    EXPECT_GE(stepsOf("(?:(?!a{2001})a)+", text), kLength * kLength / 2);
}

TEST(Pattern, OfAPublishedModelTakesFewSteps) {
    const std::string text = times(1000, "The capital of France isn't 12 km away,  is it?\n");
    EXPECT_LE(stepsOf(kGpt2Pattern, text), 8 * text.size());
}

TEST(Pattern, ThatNeedsMemoryForEachCharacterHasALimit) {
    const std::size_t length = 100'000;
    EXPECT_EQ(matchesOf("(?:a|b)+", times(length / 2, "ab")), (Places{{0, length}}));
    EXPECT_THROW(matchesOf("(?:a|b)+", times(2'000'000, "ab")), std::invalid_argument);
}

TEST(Pattern, ThatMeansSomethingElseElsewhereIsRefused) {
    for (const char* const expression :
         {"(*UTF)a", "(*NOTEMPTY)a*", "(*LIMIT_MATCH=4294967295)a", "(*NO_AUTO_POSSESS)a", "a(*ACCEPT)b",
          "(*CRLF)a", "(*SKIP)a", "a(?C1)", "a(?C\"x\")", "\\C", "[a]\\C", "\\Qa\\E", "\\h", "\\H", "a{,2}",
          "(?m)a", "(?i-m:a)", "[a[b]]", "[a&&b]"})
        expectRefused(expression, "which is not supported");
    expectRefused("(a)\\1", "refers to what a group matched");
    EXPECT_EQ(matchesOf("[(*]|\\(\\*|[{,]", "(*{"), (Places{{0, 1}, {1, 2}, {2, 3}}));
    EXPECT_EQ(matchesOf("(?i:m)|(?<m>a)", "Ma"), (Places{{0, 1}, {1, 2}}));
}

TEST(Pattern, ThatWouldBeTooLargeIsRefused) {
    expectRefused("(((a{1000}){1000}){1000})", "repeats too much");
    expectRefused("(?:a?){65535}", "repeats too much");
    expectRefused(times(40, "(?:") + "ab" + times(40, "){2}"), "repeats too much");
    expectRefused(times(1000, "(") + times(1000, ")"), "cannot be compiled");
    expectRefused(times(Pattern::kMaxBytes + 1, "a"), "longer than 16384 bytes");
    expectRefused(times(3000, "(a"), "cannot be compiled");
}

}  // namespace
}  // namespace roper
