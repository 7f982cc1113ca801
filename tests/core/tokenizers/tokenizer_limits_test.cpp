#include <gtest/gtest.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>

#include "core/tokenizers/keyed_hash.h"
#include "core/tokenizers/tokenizer.h"
#include "core/tokenizers/tokenizer_files.h"
#include "tests/support/expect_error.h"
#include "tests/support/limited_process.h"

namespace roper {
namespace {

using Json = nlohmann::json;

/// A tokenizer.json with three letters and one merge, plus the given members.
std::string tokenizerWith(const Json& members) {
    Json json = Json::parse(
        R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "aa": 3}, "merges": ["a b", "a a"]}})");
    json.update(members);
    return json.dump();
}

Json listOf(std::size_t count, const Json& value) {
    return Json(std::vector<Json>(count, value));
}

Json replaces(const std::string& expression, const std::string& content) {
    return {{"type", "Replace"}, {"pattern", {{"Regex", expression}}}, {"content", content}};
}

Json sequence(const char* key, const Json& members) {
    return {{"type", "Sequence"}, {key, members}};
}

Json splitsAt(const std::string& expression) {
    return {{"type", "Split"}, {"behavior", "Isolated"}, {"pattern", {{"Regex", expression}}}};
}

Tokenizer tokenizer(const Json& members) {
    return parseTokenizerJson(tokenizerWith(members), "tokenizer.json");
}

TEST(TokenizerLimits, HoldForWhatAFileLists) {
    const auto refuses = [](const Json& members, const std::string& part) {
        expectError(ErrorKind::checkpoint, part, [&] { tokenizer(members); });
    };
    refuses({{"normalizer", sequence("normalizers", listOf(10'000, replaces("a", "b")))}},
            "more than 32 normalizers");
    refuses({{"normalizer", replaces("a", std::string(2000, 'b'))}}, "2000 bytes that a normalizer writes");
    refuses({{"normalizer", {{"type", "Prepend"}, {"prepend", std::string(2000, 'b')}}}}, "2000 bytes");
    refuses({{"pre_tokenizer", sequence("pretokenizers", listOf(10'000, splitsAt("a+b")))}},
            "more than 32 pre_tokenizers");
    refuses({{"pre_tokenizer", sequence("pretokenizers", {{{"type", "Metaspace"}, {"replacement", "_"}},
                                                          {{"type", "Metaspace"}, {"replacement", "-"}}})}},
            "2 pre_tokenizers \"Metaspace\"");
    refuses({{"pre_tokenizer", {{"type", "Metaspace"}, {"replacement", "__"}}}}, "not one character");
    refuses({{"added_tokens", {{{"content", "x"}, {"id", std::int64_t{1} << 40}}}}},
            "has the id 1099511627776");
    refuses({{"added_tokens", {{{"content", std::string(2000, 'x')}, {"id", 7}}}}}, "is too long");
    const auto withId = [](std::int64_t id) {
        return Json{{"model", {{"vocab", {{"a", 0}, {"b", id}}}, {"merges", Json::array()}}}};
    };
    EXPECT_EQ(tokenizer(withId(65'537)).size(), 65'538) << "some ids may have no token";
    refuses(withId(65'538), "\"b\" has the id 65538 in a vocabulary of 2");
    const Json marks = {{"type", "TemplateProcessing"},
                        {"single", listOf(1000, {{"SpecialToken", {{"id", "x"}}}})},
                        {"special_tokens", {{"x", {{"ids", listOf(1000, 0)}}}}}};
    refuses({{"post_processor", marks}}, "more than 256 special tokens around a text");
}

TEST(TokenizerLimits, HoldForWhatATextBecomes) {
    const auto refuses = [](const Json& members, const std::string& text, const std::string& part) {
        const Tokenizer read = tokenizer(members);
        EncodingBudget budget(text.size(), 5'000'000);
        expectError(ErrorKind::checkpoint, part, [&] { read.encode(text, budget); });
    };
    const std::string text(10'000, 'a');
    refuses(
        {{"normalizer", sequence("normalizers", listOf(8, replaces("a", std::string(1000, 'a'))))}}, text,
        "tokenizer.json: the normalizer or pre_tokenizer turns a text of 10000 bytes into more than 324096");
    refuses({{"normalizer", sequence("normalizers", listOf(32, replaces("", "b")))}}, text, "324096 bytes");
    refuses({{"pre_tokenizer", splitsAt("(?:(?:a|aa)+c)|a")}}, text, "needs more than 5000000 steps");
    refuses({{"pre_tokenizer", sequence("pretokenizers", listOf(32, splitsAt("a")))}}, text, "5000000 steps");
    std::string accents = "a";
    for (int i = 0; i < 5000; ++i)
        accents += "\u0301\u0323";
    refuses({{"normalizer", {{"type", "NFKD"}}}}, accents, "5000000 steps");
}

/// Text before and after each added token is normalized separately, so short stretches count, too.
TEST(TokenizerLimits, HoldForManyStretches) {
    Json members = {{"added_tokens", {{{"content", "b"}, {"id", 1}}}},
                    {"normalizer", {{"type", "Prepend"}, {"prepend", std::string(1000, 'a')}}}};
    const Tokenizer read = tokenizer(members);
    std::string text;
    for (int i = 0; i < 100'000; ++i)
        text += "ab";
    EncodingBudget budget(text.size(), 50'000'000);
    expectError(ErrorKind::checkpoint, "steps", [&] { read.encode(text, budget); });
}

TEST(TokenizerLimits, HoldForTheTextItself) {
    const Tokenizer plain = tokenizer(Json::object()),
                    letters = tokenizer({{"pre_tokenizer", splitsAt("b")}});
    const auto refuses = [](const Tokenizer& read, std::size_t length, char letter, const std::string& part) {
        expectError(ErrorKind::usage, part, [&] { read.encode(std::string(length, letter)); });
    };
    refuses(plain, (16U << 20U) + 1, 'a', "the text has 16777217 bytes; a model accepts at most 16777216");
    refuses(plain, 9'000'000, 'a', "9000000 bytes of the text as one word");
    refuses(letters, 1'000'001, 'b', "more than 1000000 tokens");
    EXPECT_EQ(letters.encode(std::string(1'000'000, 'b')).size(), 1'000'000U);
}

/// The time for merging a word is nearly linear in its length.
TEST(TokenizerLimits, LeaveRoomForALongWord) {
    expectWithinLimits(
        [] { return tokenizer(Json::object()).encode(std::string(1'000'000, 'a')).size() == 500'000; });
}

TEST(TokenizerLimits, LeaveRoomForManyAddedTokens) {
    expectWithinLimits([] {
        Json added = Json::array();
        for (int i = 0; i < 60'000; ++i)
            added.push_back({{"content", "<token " + std::to_string(i) + ">"}, {"id", i + 10}});
        std::string text;
        for (int i = 0; i < 60'000; ++i)
            text += "<token x><token " + std::to_string(i) + ">";
        return tokenizer({{"added_tokens", added}}).encode(text).size() == 60'000;
    });
}

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
