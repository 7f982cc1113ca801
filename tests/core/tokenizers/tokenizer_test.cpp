#include "core/tokenizers/tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/file_reading.h"
#include "core/tokenizers/tokenizer_files.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

using Ids = std::vector<std::int64_t>;

nlohmann::json reference() {
    return nlohmann::json::parse(readFile(ROPER_TOKENIZERS));
}

/// A tokenizer.json of four letters and one merge, with some members replaced.
std::string smallTokenizer(const std::string& members = {}) {
    auto json = nlohmann::json::parse(
        R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "▁": 3}, "merges": ["a b"]}})");
    if (!members.empty()) json.merge_patch(nlohmann::json::parse(members));
    return json.dump();
}

Ids idsOf(const std::string& tokenizer, const std::string& text) {
    return parseTokenizerJson(tokenizer, "tokenizer.json").encode(text);
}

TEST(Tokenizers, GiveTheIdsOfHuggingFacesOwn) {
    const nlohmann::json content = reference();
    int kinds = 0;
    for (const auto& one : content["tokenizers"]) {
        const Tokenizer tokenizer = parseTokenizerJson(one["tokenizer"].get<std::string>(), "tokenizer.json");
        for (std::size_t i = 0; i < content["texts"].size(); ++i)
            EXPECT_EQ(tokenizer.encode(content["texts"][i].get<std::string>()), one["ids"][i].get<Ids>())
                << one["name"] << ": " << content["texts"][i];
        ++kinds;
    }
    EXPECT_EQ(kinds, 10);
}

TEST(Tokenizers, ByteLevelOnesGiveTheTextBack) {
    const nlohmann::json content = reference();
    for (const auto& one : content["tokenizers"]) {
        if (one["name"] != "GPT-2" && one["name"] != "SmolLM") continue;
        const Tokenizer tokenizer = parseTokenizerJson(one["tokenizer"].get<std::string>(), "tokenizer.json");
        for (const auto& text : content["texts"]) {
            // Blanks around added tokens go with these.
            if (text.get<std::string>().find('<') != std::string::npos) continue;
            EXPECT_EQ(tokenizer.decode(tokenizer.encode(text.get<std::string>())), text.get<std::string>());
        }
    }
}

TEST(Tokenizers, SentencePieceVocabulariesMergeByScore) {
    const std::vector<std::string> pieces = {"a", "b", "ab", "ba", "aba", "bab"};
    const auto encoded = [&](const std::vector<double>& scores, const char* word) {
        Ids ids;
        Bpe(pieces, mergesOfScores(pieces, scores)).encode(word, ids);
        return ids;
    };
    EXPECT_EQ(encoded({-9, -9, -1, -2, -3, -4}, "abab"), (Ids{2, 2}));
    EXPECT_EQ(encoded({-9, -9, -2, -1, -3, -4}, "abab"), (Ids{4, 1}));
    // Of equal scores the one on the left is taken.
    EXPECT_EQ(encoded({-9, -9, -1, -1, -3, -4}, "aba"), (Ids{4}));
    EXPECT_EQ(encoded({-9, -9, -1, -1, -9, -9}, "bab"), (Ids{5}));
}

TEST(Tokenizers, AreMergedInTheOrderOfTheList) {
    EXPECT_EQ(idsOf(smallTokenizer(), "aabb"), (Ids{0, 2, 1}));
    EXPECT_EQ(idsOf(smallTokenizer(), "axb"), (Ids{2})) << "what is no piece is left out";
    EXPECT_EQ(idsOf(smallTokenizer(R"({"model": {"unk_token": "▁"}})"), "axyb"), (Ids{0, 3, 3, 1}));
    EXPECT_EQ(idsOf(smallTokenizer(R"({"model": {"unk_token": "▁", "fuse_unk": true}})"), "axyb"),
              (Ids{0, 3, 1}));
}

TEST(Tokenizers, WhatIsNotUnderstoodIsNamed) {
    const auto refuses = [](const std::string& json, const std::string& part) {
        expectError(ErrorKind::checkpoint, part, [&] { parseTokenizerJson(json, "tokenizer.json"); });
    };
    refuses("{", "tokenizer.json: ");
    refuses("[]", "model.vocab is not an object");
    refuses(smallTokenizer(R"({"model": {"type": "Unigram"}})"), "the model \"Unigram\" is not understood");
    refuses(smallTokenizer(R"({"normalizer": {"type": "Precompiled"}})"), "normalizer \"Precompiled\"");
    refuses(smallTokenizer(R"({"pre_tokenizer": {"type": "BertPreTokenizer"}})"),
            "pre_tokenizer \"BertPreTokenizer\"");
    refuses(smallTokenizer(R"({"post_processor": {"type": "BertProcessing"}})"),
            "post_processor \"BertProcessing\"");
    refuses(smallTokenizer(R"({"model": {"merges": ["a c"]}})"), "needs a token that the vocabulary lacks");
    refuses(smallTokenizer(R"({"model": {"merges": ["ab"]}})"), "has no blank");
    refuses(smallTokenizer(R"({"model": {"vocab": {"a": -1}}})"), "has the id -1");
    refuses(smallTokenizer(R"({"model": {"vocab": {"a": 99999999999}}})"), "has the id 99999999999");
    refuses(
        smallTokenizer(
            R"({"pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "(a"}}})"),
        "the pattern (a is not understood");
    refuses(smallTokenizer(R"({"added_tokens": [{"content": "x", "id": -5}]})"), "has the id -5");
}

TEST(Tokenizers, TextThatIsNotUtf8IsRefused) {
    expectError(ErrorKind::usage, "byte 1 is wrong", [] { idsOf(smallTokenizer(), "a\xff"); });
}

TEST(Tokenizers, APatternThatTriesEverythingEnds) {
    const Pattern pattern("^(a|aa)+$");
    EXPECT_THROW(pattern.forEachMatch(std::string(200, 'a') + "b", [](std::size_t, std::size_t) {}),
                 std::invalid_argument);
}

}  // namespace
}  // namespace roper
