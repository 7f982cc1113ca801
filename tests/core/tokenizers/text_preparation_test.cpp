#include "core/tokenizers/added_tokens.h"

#include <gtest/gtest.h>
#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>

#include "core/tokenizers/characters.h"
#include "core/tokenizers/normalization.h"

namespace roper {
namespace {

using Stretches = std::vector<std::pair<std::string, std::int64_t>>;

AddedTokenSearch searchFor(const std::vector<AddedToken>& tokens) {
    std::vector<AddedTokenSearch::SearchEntry> entry;
    for (const AddedToken& token : tokens)
        entry.push_back({token.text, &token});
    return AddedTokenSearch(std::move(entry));
}

Stretches stretchesOf(const std::vector<AddedToken>& tokens, const std::string& text) {
    Stretches stretches;
    EncodingBudget budget(text.size());
    searchFor(tokens).forEachSegment(text, budget, [&](std::string_view segment, const AddedToken* token) {
        stretches.emplace_back(segment, token == nullptr ? -1 : token->id);
    });
    return stretches;
}

/// A naive search that tries every token at every position.
Stretches triedOneByOne(const std::vector<AddedToken>& tokens, const std::string& text) {
    Stretches stretches;
    std::string between;
    for (std::size_t at = 0; at < text.size();) {
        const AddedToken* longest = nullptr;
        for (const AddedToken& token : tokens)
            if (text.compare(at, token.text.size(), token.text) == 0 &&
                (longest == nullptr || token.text.size() > longest->text.size()))
                longest = &token;
        if (longest == nullptr) {
            between += text[at++];
            continue;
        }
        if (!between.empty()) stretches.emplace_back(between, -1);
        between.clear();
        stretches.emplace_back(longest->text, longest->id);
        at += longest->text.size();
    }
    if (!between.empty()) stretches.emplace_back(between, -1);
    return stretches;
}

TEST(AddedTokens, TheLongestIsFoundAtEachPlace) {
    std::mt19937 random(7);
    const auto randomText = [&](std::size_t most) {
        std::string text;
        for (std::size_t length = random() % most + 1; text.size() < length;)
            text += "abc"[random() % 3];
        return text;
    };
    for (int i = 0; i < 200; ++i) {
        std::vector<AddedToken> tokens;
        for (std::int64_t id = 0; id < 12; ++id)
            tokens.push_back({randomText(5), id});
        const std::string text = randomText(60);
        EXPECT_EQ(stretchesOf(tokens, text), triedOneByOne(tokens, text));
    }
}

/// As in tokenizers 0.23.3, which finds the longest match first and then checks whether it is a whole word.
TEST(AddedTokens, OneThatMustStandAloneHidesShorterOnesWithinIt) {
    std::vector<AddedToken> tokens = {{"ab", 0}, {"abc", 1}, {"cx", 2}};
    tokens[1].whole_word = true;
    EXPECT_EQ(stretchesOf(tokens, "abc"), (Stretches{{"abc", 1}}));
    EXPECT_EQ(stretchesOf(tokens, "abcx"), (Stretches{{"abcx", -1}}));
    EXPECT_EQ(stretchesOf(tokens, "abcdab"), (Stretches{{"abcd", -1}, {"ab", 0}}));
}

/// Word characters as defined by Unicode; symbols and most parts of emoji are not among them.
TEST(AddedTokens, AWordEndsWhereUnicodeSaysSo) {
    std::vector<AddedToken> tokens = {{"é", 0}};
    tokens[0].whole_word = true;
    for (const std::string beside : {" ", ".", "👍🏽", "²", "½", "\u200b", "。"})
        EXPECT_EQ(stretchesOf(tokens, beside + "é" + beside),
                  (Stretches{{beside, -1}, {"é", 0}, {beside, -1}}))
            << beside;
    // The last two are letters since Unicode 16.
    for (const std::string beside :
         {"a", "_", "٣", "\u0301", "\u200d", "Ⓐ", "ⅷ", "日", "\U00013E3C", "\u1C89"})
        EXPECT_EQ(stretchesOf(tokens, "é" + beside), (Stretches{{"é" + beside, -1}})) << beside;
}

/// The ids are those of tokenizers 0.23.3, which continues behind the token itself, not behind the whitespace
/// that the token includes.
TEST(AddedTokens, BlanksThatOneTookMayBelongToTheNext) {
    std::vector<AddedToken> tokens = {{"x", 0}, {"  ", 1}};
    tokens[0].strips_right = true;
    EXPECT_EQ(stretchesOf(tokens, "ax     b"),
              (Stretches{{"a", -1}, {"x     ", 0}, {"  ", 1}, {"  ", 1}, {" b", -1}}));
    tokens[0] = {"x", 0};
    tokens[0].strips_left = true;
    EXPECT_EQ(stretchesOf(tokens, "a  \u3000\u2028x b"),
              (Stretches{{"a", -1}, {"  ", 1}, {"\u3000\u2028x", 0}, {" b", -1}}));
    // The second token lies entirely within the first one's stretch; there the package fails.
    tokens[0].strips_right = tokens[1].strips_left = true;
    EXPECT_THROW(stretchesOf(tokens, "x     "), std::invalid_argument);
    EXPECT_EQ(stretchesOf(tokens, "x  "), (Stretches{{"x  ", 0}}));
}

TEST(AddedTokens, HowManyThereAreDoesNotMatter) {
    std::vector<AddedToken> tokens;
    for (std::int64_t id = 0; id < 100'000; ++id)
        tokens.push_back({"<token " + std::to_string(id) + ">", id});
    std::string text;
    for (int i = 0; i < 10'000; ++i)
        text += "<token x>a<x>";
    EncodingBudget budget(text.size());
    std::size_t count = 0;
    searchFor(tokens).forEachSegment(text, budget, [&](std::string_view, const AddedToken*) { ++count; });
    EXPECT_LE(budget.steps(), 40 * text.size());
    EXPECT_GT(count, 0U);
}

TEST(AddedTokens, ThatNearlyStandEverywhereAreCounted) {
    const std::vector<AddedToken> tokens = {{std::string(1000, 'a') + "b", 0}};
    EncodingBudget budget(100'000, 10'000'000);
    EXPECT_THROW(searchFor(tokens).forEachSegment(std::string(100'000, 'a'), budget,
                                                  [](std::string_view, const AddedToken*) {}),
                 std::invalid_argument);
}

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

/// FNV-1a.
class Digest {
  public:
    void add(std::uint8_t number) { value_ = (value_ ^ number) * 0x100000001B3; }
    void add(std::string_view bytes) {
        for (const char byte : bytes)
            add(static_cast<std::uint8_t>(byte));
    }
    std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0xCBF29CE484222325;
};

template <class Visit>
void forEachCharacter(Character first, const Visit& visit) {
    for (Character character = first; character < 0x110000; ++character)
        if (character < 0xD800 || character >= 0xE000) visit(character);
}

std::string normalizedBy(const std::vector<Kind>& kinds, Character character) {
    std::string text;
    append(character, text);
    std::vector<Normalization> changes;
    for (const Kind kind : kinds)
        changes.push_back({.kind = kind});
    return after(changes, text);
}

/// Of all characters from U+0080, each normalized by itself.
std::uint64_t digestAfter(Kind kind) {
    Digest digest;
    forEachCharacter(0x80, [&](Character character) { digest.add(normalizedBy({kind}, character)); });
    return digest.value();
}

// The digests are those of tokenizers 0.23.3 (tests/parity/characters.py digests).
TEST(Characters, AreOfTheCategoriesThatTokenizersRemoves) {
    const std::vector<std::vector<Kind>> removers = {
        {Kind::clean}, {Kind::nfd, Kind::strip_nonspacing}, {Kind::strip_accents}};
    Digest digest;
    forEachCharacter(0xA0, [&](Character character) {
        unsigned removed = 0;
        for (std::size_t i = 0; i < removers.size(); ++i)
            if (normalizedBy(removers[i], character).empty()) removed |= 1U << i;
        digest.add(static_cast<std::uint8_t>(removed));
    });
    EXPECT_EQ(digest.value(), 0x71b9a6940e188826U);
}

TEST(Characters, AreOfTheScriptsBetweenWhichTokenizersSplits) {
    std::map<int, std::uint8_t> numbers;  // of scripts, in the order of their first characters
    Digest digest;
    forEachCharacter(0, [&](Character character) {
        const auto script = unicodeScript(character);
        digest.add(script ? numbers.try_emplace(*script, numbers.size() + 1).first->second : 0);
    });
    EXPECT_EQ(digest.value(), 0x4884e023dc171066U);
}

/// Characters between marks, which sort and compose unless a later version of Unicode added the character.
TEST(Characters, ComposeAndSortAsInTokenizers) {
    Digest digest;
    forEachCharacter(0x80, [&](Character character) {
        if (character >= 0x20000) return;
        std::string text = "a\u0345";
        append(character, text);
        text += "\u0334";
        for (const Kind form : {Kind::nfc, Kind::nfd, Kind::nfkc, Kind::nfkd})
            digest.add(after({{.kind = form}}, text));
    });
    EXPECT_EQ(digest.value(), 0x65b59c952d6f9e00U);
}

TEST(Characters, HaveTheLowerCaseOfTokenizers) {
    EXPECT_EQ(digestAfter(Kind::lower_case), 0x830413b76229980cU);
}

TEST(Characters, DecomposeAsInTokenizers) {
    EXPECT_EQ(digestAfter(Kind::nfkd), 0x31642ba32259962eU);
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
