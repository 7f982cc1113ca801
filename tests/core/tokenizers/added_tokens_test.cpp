#include "core/tokenizers/added_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace roper {
namespace {

using Stretches = std::vector<std::pair<std::string, std::int64_t>>;

std::vector<const AddedToken*> pointersTo(const std::vector<AddedToken>& tokens) {
    std::vector<const AddedToken*> pointers;
    for (const AddedToken& token : tokens)
        pointers.push_back(&token);
    return pointers;
}

Stretches stretchesOf(const std::vector<AddedToken>& tokens, const std::string& text) {
    Stretches stretches;
    EncodingBudget budget(text.size());
    AddedTokenSearch(pointersTo(tokens))
        .forEachStretch(text, budget, [&](std::string_view stretch, const AddedToken* token) {
            stretches.emplace_back(stretch, token == nullptr ? -1 : token->id);
        });
    return stretches;
}

/// Tries every token at every place.
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

TEST(AddedTokens, AShorterOneIsFoundWhereTheLongerMustStandAlone) {
    std::vector<AddedToken> tokens = {{"ab", 0}, {"abc", 1}, {"abc", 2}};
    tokens[1].whole_word = true;
    EXPECT_EQ(stretchesOf(tokens, "abc"), (Stretches{{"abc", 1}}));
    EXPECT_EQ(stretchesOf(tokens, "abcd"), (Stretches{{"abc", 2}, {"d", -1}}));
    tokens.pop_back();
    EXPECT_EQ(stretchesOf(tokens, "abcd"), (Stretches{{"ab", 0}, {"cd", -1}}));
}

TEST(AddedTokens, HowManyThereAreDoesNotMatter) {
    std::vector<AddedToken> tokens;
    for (std::int64_t id = 0; id < 100'000; ++id)
        tokens.push_back({"<token " + std::to_string(id) + ">", id});
    for (std::int64_t id = 0; id < 1000; ++id) {  // of the same text
        tokens.push_back({"<x>", id});
        tokens.back().whole_word = true;
    }
    std::string text;
    for (int i = 0; i < 10'000; ++i)
        text += "<token x>a<x>";
    EncodingBudget budget(text.size());
    std::size_t count = 0;
    AddedTokenSearch(pointersTo(tokens))
        .forEachStretch(text, budget, [&](std::string_view, const AddedToken*) { ++count; });
    EXPECT_LE(budget.steps(), 40 * text.size());
    EXPECT_GT(count, 0U);
}

TEST(AddedTokens, ThatNearlyStandEverywhereAreCounted) {
    const std::vector<AddedToken> tokens = {{std::string(1000, 'a') + "b", 0}};
    EncodingBudget budget(100'000, 10'000'000);
    EXPECT_THROW(
        AddedTokenSearch(pointersTo(tokens))
            .forEachStretch(std::string(100'000, 'a'), budget, [](std::string_view, const AddedToken*) {}),
        std::invalid_argument);
}

}  // namespace
}  // namespace roper
