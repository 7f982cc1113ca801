#include "core/tokenizers/normalization.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace roper {
namespace {

using Kind = Normalization::Kind;

std::string repeated(std::size_t count, const std::string& text) {
    std::string made;
    for (std::size_t i = 0; i < count; ++i)
        made += text;
    return made;
}

std::string after(const std::vector<Normalization>& changes, const std::string& text,
                  std::uint64_t max_steps = EncodingBudget::kMaxSteps) {
    EncodingBudget budget(text.size(), max_steps);
    return normalized(text, changes, budget);
}

Normalization replacement(const std::string& of, const std::string& by) {
    return {Kind::replace, of.empty() ? Pattern("") : Pattern::literal(of), by};
}

TEST(Normalization, MayMakeATextAsMuchLongerAsUnicodeDoes) {
    constexpr std::size_t kCount = 100'000;
    const std::string text = repeated(kCount, "\uFDFA");
    const std::string made = after({{Kind::nfkd}, replacement(" ", "▁")}, text);
    EXPECT_EQ(made.size(), 39 * kCount);
    EXPECT_EQ(after({{Kind::nfc}}, repeated(kCount, "e\u0301")), repeated(kCount, "é"));
    EXPECT_EQ(after({{Kind::nfd}}, "\u1E69"), "s\u0323\u0307");
}

TEST(Normalization, ThatMultipliesATextIsRefused) {
    const std::string text = repeated(20'000, "a");
    for (const std::vector<Normalization>& changes :
         {std::vector<Normalization>(20, replacement("a", "aaa")),
          {replacement("a", repeated(1000, "b"))},
          {replacement("", repeated(500, "b"))},
          {replacement("a", repeated(10, "\uFDFA")), {Kind::nfkd}},
          std::vector<Normalization>(2, {Kind::replace, Pattern("(?=a)|$"), repeated(30, "a")})})
        EXPECT_THROW(after(changes, text), std::invalid_argument);
    EXPECT_THROW(after(std::vector<Normalization>(100, {Kind::prepend, {}, repeated(1000, "a")}), "a"),
                 std::invalid_argument);
}

/// Normalization moves each accent past all preceding ones of a higher combining class.
TEST(Normalization, OfManyAccentsInARowIsCounted) {
    constexpr std::uint64_t kSteps = 10'000'000;
    for (const char* const pair : {"\u0301\u0323", "\u0344\u0F73", "\u0F74\u0F71"})
        for (const Kind form : {Kind::nfc, Kind::nfd, Kind::nfkc, Kind::nfkd}) {
            EXPECT_THROW(after({{form}}, "a" + repeated(10'000, pair), kSteps), std::invalid_argument)
                << pair;
            EXPECT_NO_THROW(after({{form}}, repeated(1000, "a" + repeated(10, pair)), kSteps)) << pair;
        }
}

TEST(Normalization, OfEveryKindTakesStepsInProportionToTheText) {
    const std::string text = repeated(100'000, "é ");
    for (const Normalization& change :
         {Normalization{Kind::nfkc}, replacement(" ", "_"), {Kind::prepend, {}, "x"}}) {
        EncodingBudget budget(text.size());
        normalized(text, {change, change}, budget);
        EXPECT_GE(budget.steps(), 2 * text.size());
        EXPECT_LE(budget.steps(), 20 * text.size());
    }
}

}  // namespace
}  // namespace roper
