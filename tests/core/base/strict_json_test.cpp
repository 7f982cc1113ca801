#include "core/base/strict_json.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/limited_process.h"

namespace roper {
namespace {

using Json = nlohmann::json;

std::string repeated(const std::string& text, std::size_t count) {
    std::string all;
    all.reserve(text.size() * count);
    for (std::size_t i = 0; i < count; ++i)
        all += text;
    return all;
}

/// "[" part part … last "]"
std::string listOf(const std::string& part, std::size_t bytes, const std::string& last) {
    return "[" + repeated(part, bytes / part.size()) + last + "]";
}

void refused(const std::string& text, const std::string& part, const JsonLimits& limits = {}) {
    try {
        parseStrictJson(text, limits);
        ADD_FAILURE() << "no error; expected one with \"" << part << "\"";
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
        EXPECT_LT(std::string(error.what()).size(), 300U);
    }
}

TEST(StrictJson, ReadsAsTheLibraryDoes) {
    for (const char* text :
         {"{}", "[]", "null", "5", "-5", "18446744073709551615", "1.5e3", "\"ß\\u00df\\n\"", " [ 1 , [ ] ] ",
          R"({"a": [1, {"b": null, "c": [true, false, "x"]}, []], "d": {"a": -0.0}, "": ""})"})
        EXPECT_EQ(parseStrictJson(text), Json::parse(text)) << text;
}

TEST(StrictJson, WhatIsWrongIsSaidWithItsPlace) {
    refused("", "the text ends before the JSON is complete");
    refused(R"({"a": [1, 2)", "the text ends before the JSON is complete");
    refused(R"({"a" 5})", "column 6: {\"a\" 5 is not JSON");
    refused("{\n  \"a\": 1,\n  \"b\": nul\n}", "line 3, column 10:   \"b\": nul is not JSON");
    refused("[1e999]", "column 6: [1e999 is too large a number");
    refused("[1] 2", "is not JSON");
    refused("\"" + std::string(1000, 'x') + "\xff", "is not JSON");
    refused(R"({"a": 1, "b": {"c": 1, "c": 2}})", "the key \"c\" occurs twice");
    refused(R"([{"a": {}, "a": {}}])", "the key \"a\" occurs twice");
    refused(repeated("[", 33) + repeated("]", 33), "nested too deeply");
    refused("[[[1]]]", "nested too deeply", {.depth = 2});
    EXPECT_NO_THROW(parseStrictJson("[[1]]", {.depth = 2}));
    refused("[1,2,3]", "more than 3 values", {.values = 3});
    EXPECT_NO_THROW(parseStrictJson("[1,2]", {.values = 3}));
}

TEST(StrictJson, IntegersAreNotConvertedFromOtherNumbers) {
    const auto integer = [](const char* text, std::int64_t max) {
        return integerMember(parseStrictJson(std::string("{\"step\":") + text + "}"), "step", max);
    };
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(integer("9223372036854775807", kMax), kMax);
    EXPECT_EQ(integer("-9223372036854775808", kMax), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(integer("100", 100), 100);
    for (const char* bad : {"9223372036854775808", "1e23", "1.0", "\"1\"", "null", "[1]", "true"})
        EXPECT_THROW(integer(bad, kMax), std::invalid_argument) << bad;
    EXPECT_THROW(integer("101", 100), std::invalid_argument);
}

/// Each of these inputs has one megabyte. A parser that scans a container for each of its members would take
/// half a minute for it.
TEST(StrictJson, TimeGrowsWithTheLength) {
    constexpr std::size_t kBytes = kSanitizer ? 200'000 : 1'000'000;
    std::string keys = "{";
    while (keys.size() < kBytes)
        keys += "\"" + std::to_string(keys.size()) + "\":{},";
    const std::vector<std::string> texts = {
        R"({"a":)" + listOf("{},", kBytes, "{}") + "}",
        listOf("[],", kBytes, "[]"),
        listOf(R"({"":{}},)", kBytes, "0"),
        listOf("0,", kBytes, "0"),
        keys + "\"\":0}",
        "[\"" + repeated("\\u0041", kBytes / 6) + "\"]",
        repeated(" ", kBytes) + "0",
    };
    EXPECT_TRUE(finishesWithin(10, 1'000'000'000, [&] {
        for (const std::string& text : texts)
            parseStrictJson(text);
    }));
}

/// Sixty megabytes of text that would take two thousand in memory.
TEST(StrictJson, MemoryIsBounded) {
    if (kSanitizer) GTEST_SKIP() << "a sanitizer takes memory of its own";
    constexpr std::size_t kBytes = 60'000'000;
    const std::string empty = listOf("{},", kBytes, "{}");
    std::string nested;
    for (int i = 0; i < 30; ++i)
        nested += R"({"":)";
    const std::string deep = listOf(nested + "{}" + std::string(30, '}') + ",", kBytes, "0");
    EXPECT_TRUE(finishesWithin(60, 1'000'000'000, [&] {
        refused(empty, "more than 4194304 values");
        refused(deep, "more than 4194304 values");
    }));
}

/// As many tokens and merges as Gemma 3 has, and an index of a hundred thousand weights.
TEST(StrictJson, WhatPublishedModelsHaveIsRead) {
    if (kSanitizer) GTEST_SKIP() << "a sanitizer takes memory and time of its own";
    std::string vocabulary, merges, weights;
    for (int i = 0; i < 262'144; ++i)
        vocabulary += "\"piece " + std::to_string(i) + "\":" + std::to_string(i) + ",";
    for (int i = 0; i < 514'906; ++i)
        merges += "[\"left\",\"right " + std::to_string(i) + "\"],";
    for (int i = 0; i < 100'000; ++i)
        weights += "\"model.layers." + std::to_string(i) + "\":\"model-00001-of-00100.safetensors\",";
    EXPECT_TRUE(finishesWithin(60, 600'000'000, [&] {
        const Json json =
            parseStrictJson(R"({"vocab":{)" + vocabulary + R"("":0},"merges":[)" + merges + "[]]}");
        EXPECT_EQ(json["merges"].size(), 514'907U);
        EXPECT_EQ(parseStrictJson("{" + weights + "\"\":0}").size(), 100'001U);
    }));
}

}  // namespace
}  // namespace roper
