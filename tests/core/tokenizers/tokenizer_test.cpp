#include "core/tokenizers/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/file_reading.h"
#include "core/tokenizers/bpe.h"
#include "core/tokenizers/gguf_patterns.h"
#include "core/tokenizers/tokenizer_files.h"
#include "tests/support/expect_error.h"
#include "tests/support/gguf_bytes.h"
#include "tests/support/limited_process.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

using Ids = std::vector<std::int64_t>;

nlohmann::json reference() {
    return nlohmann::json::parse(readFile(ROPER_TOKENIZERS));
}

/// A tokenizer.json with four letters and one merge, with some members replaced.
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
    EXPECT_EQ(kinds, 15);
}

/// Random tokenizers of all four models, on texts that are hard to tokenize.
TEST(Tokenizers, GiveTheIdsAndTextsOfHuggingFacesOwnOnHostileTexts) {
    const std::filesystem::path folder = std::filesystem::path(ROPER_PRETRAINED) / "tokenizers";
    const auto texts = nlohmann::json::parse(readFile(folder / "texts.json"));
    ASSERT_EQ(texts.size(), 22U);
    for (const char* const kind : {"BPE", "Unigram", "WordLevel", "WordPiece"}) {
        const auto tokenizers = nlohmann::json::parse(readFile(folder / (std::string(kind) + ".json")));
        EXPECT_EQ(tokenizers.size(), 24U);
        for (const auto& one : tokenizers) {
            const auto content = one["tokenizer"].get<std::string>();
            const std::string name = std::string(kind) + " " + one["seed"].dump();
            const Tokenizer tokenizer = parseTokenizerJson(content, name);
            const bool has_decoder = content.find("\"decoder\": null") == std::string::npos;
            for (std::size_t i = 0; i < texts.size(); ++i) {
                const auto ids = one["ids"][i].get<Ids>();
                EXPECT_EQ(tokenizer.encode(texts[i].get<std::string>()), ids) << name << ": " << texts[i];
                if (has_decoder) {
                    EXPECT_EQ(tokenizer.decode(ids), one["decoded"][i]) << name << ": " << texts[i];
                }
            }
        }
    }
}

/// The same tokenizer in the metadata of a GGUF file, which has no normalizer.
GgufBytes asGguf(const nlohmann::json& tokenizer, const std::string& kind, const std::string& pattern) {
    const auto& model = tokenizer["model"];
    std::vector<std::string> pieces(model["vocab"].size()), merges;
    for (const auto& [piece, id] : model["vocab"].items())
        pieces.at(id.get<std::size_t>()) = piece;
    std::vector<std::int32_t> types(pieces.size(), 1);
    types[0] = types[1] = 3;
    std::vector<float> scores(pieces.size(), -1e6F);
    for (const auto& merge : model["merges"]) {
        merges.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
        const std::string merged = merge[0].get<std::string>() + merge[1].get<std::string>();
        scores.at(model["vocab"][merged].get<std::size_t>()) = -static_cast<float>(merges.size());
    }
    GgufBytes bytes;
    bytes.add("general.architecture", std::string("llama"));
    bytes.add("tokenizer.ggml.model", kind);
    bytes.add("tokenizer.ggml.tokens", pieces);
    bytes.add("tokenizer.ggml.token_type", types);
    bytes.add("tokenizer.ggml.bos_token_id", 1U);
    if (!pattern.empty()) bytes.add("tokenizer.ggml.pre", pattern);
    if (kind == "llama")
        bytes.add("tokenizer.ggml.scores", scores);
    else
        bytes.add("tokenizer.ggml.merges", merges);
    return bytes;
}

Tokenizer tokenizerIn(const GgufBytes& bytes) {
    const TemporaryFolder folder;
    std::ofstream(folder / "model.gguf", std::ios::binary) << bytes.bytes();
    return tokenizerOf(GgufFile::read(folder / "model.gguf").metadata);
}

TEST(Tokenizers, InAGgufFileAreTheSame) {
    const nlohmann::json content = reference();
    struct Case {
        const char *name, *kind, *pattern;
        bool prepend_space = false;
    };
    for (const Case& one : {Case{"SmolLM", "gpt2", "smollm"}, Case{"Llama 3", "gpt2", "llama-bpe"},
                            Case{"a blank put first", "gpt2", "gpt-2", true}, Case{"Llama 2", "llama", ""}}) {
        const auto found = std::find_if(content["tokenizers"].begin(), content["tokenizers"].end(),
                                        [&](const auto& tokenizer) { return tokenizer["name"] == one.name; });
        GgufBytes bytes =
            asGguf(nlohmann::json::parse((*found)["tokenizer"].get<std::string>()), one.kind, one.pattern);
        if (one.prepend_space) bytes.add("tokenizer.ggml.add_space_prefix", true);
        const Tokenizer tokenizer = tokenizerIn(bytes);
        for (std::size_t i = 0; i < content["texts"].size(); ++i)
            EXPECT_EQ(tokenizer.encode(content["texts"][i].get<std::string>()), (*found)["ids"][i].get<Ids>())
                << one.name << ": " << content["texts"][i];
    }
}

/// SentencePiece's models of both kinds, with a map of characters, with and without a blank put first, and
/// with and without several blanks in a row.
TEST(Tokenizers, OfSentencePieceInAGgufFileGiveItsIds) {
    const std::filesystem::path folder = std::filesystem::path(ROPER_PRETRAINED) / "tokenizers";
    const auto texts = nlohmann::json::parse(readFile(folder / "texts.json"));
    std::set<std::string> kinds;
    for (const auto& one : nlohmann::json::parse(readFile(folder / "sentencepiece.json"))) {
        GgufBytes bytes;
        kinds.insert(one["kind"].get<std::string>());
        bytes.add("tokenizer.ggml.model", one["kind"].get<std::string>());
        bytes.add("tokenizer.ggml.tokens", one["tokens"].get<std::vector<std::string>>());
        bytes.add("tokenizer.ggml.scores", one["scores"].get<std::vector<float>>());
        bytes.add("tokenizer.ggml.token_type", one["types"].get<std::vector<std::int32_t>>());
        bytes.add("tokenizer.ggml.precompiled_charsmap", one["charsmap"].get<std::vector<std::int32_t>>());
        for (const char* const flag : {"add_space_prefix", "remove_extra_whitespaces"})
            bytes.add(std::string("tokenizer.ggml.") + flag, one[flag].get<bool>());
        for (const char* const mark : {"add_bos_token", "add_eos_token"})
            bytes.add(std::string("tokenizer.ggml.") + mark, false);
        const Tokenizer tokenizer = tokenizerIn(bytes);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            if (one["ids"][i].is_null()) continue;
            EXPECT_EQ(tokenizer.encode(texts[i].get<std::string>()), one["ids"][i].get<Ids>())
                << one["kind"] << ": " << texts[i];
        }
    }
    EXPECT_EQ(kinds, (std::set<std::string>{"llama", "t5"}));
}

/// Ids of EsmTokenizer in transformers 5.24.
TEST(Tokenizers, OfEsmAreReadFromAListOfTokens) {
    const TemporaryFolder folder;
    const auto write = [&](const char* name, const std::string& text) {
        std::ofstream(folder / name) << text;
    };
    write("vocab.txt", "<cls>\n<pad>\n<eos>\n<unk>\nL\nA\n.\n<null_1>\n<mask>\n");
    EXPECT_FALSE(hasTokenizer(folder.path()));
    write("tokenizer_config.json", R"({"tokenizer_class": "EsmTokenizer"})");
    EXPECT_TRUE(hasTokenizer(folder.path()));
    const Tokenizer tokenizer = readFolderTokenizer(folder.path());
    EXPECT_EQ(tokenizer.encode("LA L<mask>A.<null_1>"), (Ids{0, 4, 5, 4, 8, 5, 6, 7, 2}));
    EXPECT_EQ(tokenizer.encode("xyLz w<null"), (Ids{0, 3, 4, 3, 3, 2}));
    EXPECT_EQ(tokenizer.parts().mask_id, 8);
    EXPECT_TRUE(tokenizer.isSpecial(8));
    EXPECT_FALSE(tokenizer.isSpecial(5));
    const auto refuses = [&](const std::string& vocabulary, const std::string& part) {
        write("vocab.txt", vocabulary);
        expectError(ErrorKind::checkpoint, "vocab.txt: " + part, [&] { readFolderTokenizer(folder.path()); });
    };
    refuses("<cls>\n\n<eos>\n", "line 2 is blank");
    refuses("<cls>\n<eos>\n<cls>\n", "line 3 repeats the token \"<cls>\"");
    refuses("<cls>\nL\n", "has no token \"<eos>\"");
}

/// llama.cpp writes "▁" before pieces that begin a word, and none before those that continue one.
TEST(Tokenizers, OfBertInAGgufFileCutWordsIntoPieces) {
    const std::vector<std::string> pieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]",   "▁un", "aff",
                                             "able",  "▁the",  "▁cafe", "▁[MASK]", "▁!",  "▁日"};
    GgufBytes bytes;
    bytes.add("tokenizer.ggml.model", std::string("bert"));
    bytes.add("tokenizer.ggml.tokens", pieces);
    bytes.add("tokenizer.ggml.token_type", std::vector<std::int32_t>{3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1});
    bytes.add("tokenizer.ggml.unknown_token_id", 1U);
    bytes.add("tokenizer.ggml.cls_token_id", 2U);
    bytes.add("tokenizer.ggml.seperator_token_id", 3U);
    const Tokenizer tokenizer = tokenizerIn(bytes);
    EXPECT_EQ(tokenizer.encode("The UNAFFABLE café!日x"), (Ids{2, 7, 4, 5, 6, 8, 10, 11, 1, 3}));
    EXPECT_EQ(tokenizer.encode("affable[SEP]"), (Ids{2, 1, 3, 3}));
    EXPECT_EQ(tokenizer.decode(Ids{7, 4, 5, 6}), "the unaffable");
    EXPECT_EQ(tokenizer.textOf(5) + tokenizer.textOf(7) + tokenizer.textOf(3), "aff the[SEP]");
    bytes.add("tokenizer.ggml.normalizer.lowercase", false);
    EXPECT_EQ(tokenizerIn(bytes).encode("The the"), (Ids{2, 1, 7, 3}));
    bytes.add("tokenizer.ggml.add_sep_token", false);
    bytes.add("tokenizer.ggml.add_bos_token", false);
    EXPECT_EQ(tokenizerIn(bytes).encode("the"), (Ids{2, 7, 3}));  // as in llama-cpp-python 0.3.36
}

/// Every name that llama.cpp's converter writes, except "whitespace", which needs another tokenizer.
TEST(Tokenizers, PatternsOfGgufFilesAreAllUnderstood) {
    const std::vector<std::string> names = supportedPreTokenizers();
    EXPECT_EQ(names.size(), 90U);
    for (const std::string& name : names) {
        const KnownPattern* const known = knownPattern(name);
        ASSERT_NE(known, nullptr);
        EXPECT_FALSE(known->expressions.empty());
        for (const std::string& expression : known->expressions)
            EXPECT_NO_THROW(Pattern{expression}) << name;
    }
    EXPECT_EQ(knownPattern("whitespace"), nullptr);
}

TEST(Tokenizers, WhatAGgufFileLacksIsSaid) {
    const auto refuses = [](const GgufBytes& bytes, const std::string& part) {
        expectError(ErrorKind::checkpoint, part, [&] { tokenizerIn(bytes); });
    };
    const auto begun = [](const std::vector<std::string>& pieces, const char* kind) {
        GgufBytes bytes;
        bytes.add("general.architecture", std::string("qwen2"));
        bytes.add("tokenizer.ggml.tokens", pieces);
        bytes.add("tokenizer.ggml.model", std::string(kind));
        return bytes;
    };
    refuses(GgufBytes(), "tokenizer.ggml.tokens is missing");
    refuses(begun({"a"}, "rwkv"), "is \"rwkv\"");
    refuses(begun({"a", "\xE2"}, "llama"), "is not UTF-8");
    refuses(begun({"a", std::string(2000, 'x')}, "llama"), "too long");
    refuses(begun({"a"}, "gpt2"), "tokenizer.ggml.merges is missing");
    GgufBytes bytes = begun({"a", "b", "ab"}, "gpt2");
    bytes.add("tokenizer.ggml.merges", std::vector<std::string>{"a b"});
    refuses(bytes, "tokenizer.ggml.pre is missing");
    GgufBytes odd = bytes;
    odd.add("tokenizer.ggml.pre", std::string("qwen3000"));
    refuses(odd, "is \"qwen3000\", an unknown pre-tokenizer; known are a.x-4.0, afmoe");
    bytes.add("tokenizer.ggml.pre", std::string("qwen2"));
    EXPECT_EQ(tokenizerIn(bytes).encode("aba"), (Ids{2, 0}));
    bytes.add("tokenizer.ggml.add_bos_token", true);
    refuses(bytes, "bos_token_id is missing");
    GgufBytes scored = begun({"a", "b"}, "llama");
    scored.add("tokenizer.ggml.scores", std::vector<float>{1, NAN});
    refuses(scored, "contains a score that is not a finite number");
    GgufBytes longest = begun({"a", std::string(kMaxScoredPieceBytes + 1, 'a')}, "llama");
    longest.add("tokenizer.ggml.scores", std::vector<float>{1, 2});
    refuses(longest, "is too long");
    GgufBytes typed = begun({"a", "b"}, "llama");
    typed.add("tokenizer.ggml.scores", std::vector<float>{1, 2});
    typed.add("tokenizer.ggml.token_type", std::vector<std::int32_t>{1});
    refuses(typed, "contains 1 numbers for 2 tokens");
}

/// Each piece is the previous one plus a letter, so every split of every piece is found.
TEST(Tokenizers, InAGgufFileMayNotBeCutInEveryWay) {
    expectWithinLimits([] {
        std::vector<std::string> pieces;
        for (char first = 'a'; first <= 'z'; ++first)
            for (const char second : {'a', 'b', 'c'})
                for (std::size_t length = 1; length + 2 <= kMaxScoredPieceBytes; ++length)
                    pieces.push_back(std::string{first, second} + std::string(length, 'a'));
        GgufBytes bytes;
        bytes.add("tokenizer.ggml.model", std::string("llama"));
        bytes.add("tokenizer.ggml.tokens", pieces);
        bytes.add("tokenizer.ggml.scores", std::vector<float>(pieces.size()));
        expectError(ErrorKind::checkpoint, "more than 2097152 ways", [&] { tokenizerIn(bytes); });
        return !testing::Test::HasFailure();
    });
}

/// As in tokenizers 0.23.3, added tokens take their ids from the vocabulary or are numbered in the order of
/// the list, whatever the file says; that library only logs a warning.
TEST(Tokenizers, NumberAddedTokensWhateverTheirFileSays) {
    const auto added = [](const std::string& list, const std::string& vocabulary = {}) {
        return smallTokenizer(R"({"added_tokens": )" + list + vocabulary + "}");
    };
    const std::string x = R"({"content": "<x>", "id": )", y = R"({"content": "<y>", "id": )";
    EXPECT_EQ(idsOf(added("[" + x + "10}]"), "a<x>b"), (Ids{0, 4, 1}));
    EXPECT_EQ(idsOf(added("[" + x + "4}, " + y + "5}]"), "a<x>b<y>"), (Ids{0, 4, 1, 5}));
    EXPECT_EQ(idsOf(added("[" + y + "5}, " + x + "4}]"), "a<x>b<y>"), (Ids{0, 5, 1, 4}));
    EXPECT_EQ(idsOf(added("[" + x + "1}]"), "a<x>b"), (Ids{0, 4, 1})) << "not the id of \"b\"";
    EXPECT_EQ(idsOf(added("[" + x + "4}, " + x + "5}, " + y + "6}]"), "<y><x>"), (Ids{5, 4}));
    EXPECT_EQ(idsOf(added(R"([{"content": "ab", "id": 9}, )" + x + "10}]"), "<x>ab"), (Ids{4, 2}));
    EXPECT_EQ(idsOf(added(R"([{"content": "", "id": 4}, )" + x + "10}]"), "<x>"), (Ids{4}));
    EXPECT_EQ(parseTokenizerJson(added("[" + x + "10}]"), "f").textOf(4), "<x>");
    // If the vocabulary leaves ids out, its size differs from its largest id plus one.
    const std::string gap = R"(, "model": {"vocab": {"b": 8}})", closed = R"(, "model": {"vocab": {"b": 4}})";
    EXPECT_EQ(idsOf(added("[" + x + "9}, " + y + "10}]", gap), "<x>b<y>"), (Ids{4, 8, 5}));
    expectError(ErrorKind::checkpoint,
                "the added token \"<x>\" has the id 4, which belongs to a token of the vocabulary",
                [&] { parseTokenizerJson(added("[" + x + "9}]", closed), "f"); });
}

/// tokenizers 0.23.3 uses one of their ids at random, another one each time it reads the file.
TEST(Tokenizers, RefuseAddedTokensThatBecomeTheSame) {
    const std::string normalizer =
        R"("normalizer": {"type": "Replace", "pattern": {"String": "b"}, "content": "a"})";
    const auto with = [&](const std::string& tokens) {
        return smallTokenizer("{" + normalizer + R"(, "added_tokens": [)" + tokens + "]}");
    };
    const std::string x = R"({"content": "xa", "id": 4, "normalized": true})",
                      y = R"({"content": "xb", "id": 5, "normalized": )";
    expectError(ErrorKind::checkpoint, "\"xa\" and \"xb\" become the same text",
                [&] { parseTokenizerJson(with(x + ", " + y + "true}"), "f"); });
    EXPECT_EQ(idsOf(with(x + ", " + y + "false}"), "xbxaxb"), (Ids{5, 4, 5}));
    // In that library, a text that is empty is found between all characters.
    expectError(ErrorKind::checkpoint, "the added token \" \" becomes empty when normalized", [] {
        idsOf(smallTokenizer(R"({"normalizer": {"type": "Strip"}, "added_tokens": [
                                 {"content": " ", "id": 4, "normalized": true}]})"),
              "ab");
    });
}

/// The effect of an unknown member is unknown.
TEST(Tokenizers, NameMembersThatAreNotKnown) {
    for (const char* const members :
         {R"({"pre_tokenizer": {"type": "Digits", "newer": 1}})",
          R"({"normalizer": {"type": "NFC", "newer": 1}})", R"({"model": {"newer": 1}})", R"({"newer": 1})",
          R"({"added_tokens": [{"content": "x", "id": 4, "newer": 1}]})",
          R"({"normalizer": {"type": "Replace", "pattern": {"newer": "a"}, "content": ""}})"})
        expectError(ErrorKind::checkpoint, "\"newer\" is not supported",
                    [&] { idsOf(smallTokenizer(members), "ab"); });
    expectError(ErrorKind::checkpoint, "the version \"2.0\" is not supported",
                [] { idsOf(smallTokenizer(R"({"version": "2.0"})"), "ab"); });
    EXPECT_EQ(
        idsOf(smallTokenizer(
                  R"({"truncation": {"max_length": 1}, "padding": {}, "decoder": {"type": "BPEDecoder"}})"),
              "abab"),
        (Ids{2, 2}));
}

/// The pre-tokenizer Digits of tokenizers 0.23.3 knows those of Unicode 17, its patterns those of Unicode 16.
TEST(Tokenizers, DigitsAreThoseOfUnicode17) {
    const auto words = [](const std::string& pre_tokenizer, const std::string& text) {
        const std::string model =
            R"("model": {"type": "WordLevel", "vocab": {"?": 0, "a": 1}, "unk_token": "?"})";
        return idsOf("{" + model + R"(, "pre_tokenizer": )" + pre_tokenizer + "}", text);
    };
    for (const std::string digit : {"7", "²", "\U00011DE4", "\U00016FF5"}) {
        EXPECT_EQ(words(R"({"type": "Digits"})", "a" + digit + "a"), (Ids{1, 0, 1})) << digit;
        EXPECT_EQ(words(R"({"type": "Digits", "individual_digits": true})", digit + digit), (Ids{0, 0}));
    }
    EXPECT_EQ(
        words(R"({"type": "Split", "pattern": {"Regex": "\\p{N}"}, "behavior": "Isolated"})", "a\U00011DE4"),
        (Ids{0}));
}

/// A Metaspace that adds a blank only before the first word does so if the word begins with what stands for
/// the first character before normalization. What replaces several characters stands for the last one.
TEST(Tokenizers, TraceTheBeginningOfATextThroughItsNormalizer) {
    const auto ids = [](const std::string& normalizer, const std::string& text = "ab") {
        return idsOf(smallTokenizer(R"({"pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "first"},
                                        "normalizer": )" +
                                    normalizer + "}"),
                     text);
    };
    EXPECT_EQ(ids(R"({"type": "NFC"})"), (Ids{3, 2}));
    EXPECT_EQ(ids(R"({"type": "Prepend", "prepend": "a"})"), (Ids{3, 0, 2}));
    EXPECT_EQ(ids(R"({"type": "Replace", "pattern": {"String": "a"}, "content": "b"})"), (Ids{3, 1, 1}));
    EXPECT_EQ(ids(R"({"type": "Replace", "pattern": {"String": "ab"}, "content": "ab"})"), (Ids{2}));
    EXPECT_EQ(ids(R"({"type": "Strip"})", " ab"), (Ids{2}));
    EXPECT_EQ(ids(R"({"type": "Strip"})", "ab "), (Ids{3, 2}));
}

/// The ids are those of transformers 5.24.0, which reads these files in addition to tokenizer.json.
TEST(Tokenizers, TakeTokensFromTheFilesBesideTheirs) {
    const auto ids = [](const std::string& config, const std::string& added) {
        const TemporaryFolder folder;
        std::ofstream(folder / "tokenizer.json") << smallTokenizer();
        if (!config.empty()) std::ofstream(folder / "tokenizer_config.json") << config;
        if (!added.empty()) std::ofstream(folder / "added_tokens.json") << added;
        return readTokenizerJson(folder / "tokenizer.json").encode("ab<x>a<y>");
    };
    const std::string decoder =
        R"("added_tokens_decoder": {"10": {"content": "<y>"}, "9": {"content": "<x>"}})";
    const Ids both = {2, 4, 0, 5};
    EXPECT_EQ(ids("{" + decoder + "}", ""), both);
    EXPECT_EQ(ids("", R"({"<y>": 10, "<x>": 9})"), both);
    EXPECT_EQ(ids(R"({"eos_token": "<y>", "bos_token": "<x>"})", ""), both);
    EXPECT_EQ(ids(R"({"extra_special_tokens": ["<x>", "<y>"]})", ""), both);
    EXPECT_EQ(ids(R"({"mask_token": {"content": "<x>"}, "additional_special_tokens": ["<y>"]})", ""), both);
    // Special tokens come after the others, and tokens of the vocabulary keep their ids.
    EXPECT_EQ(ids(R"({"eos_token": "<y>", "bos_token": "a"})", R"({"<x>": 9})"), (Ids{0, 1, 4, 0, 5}));
    EXPECT_EQ(ids("{" + decoder + "}", R"({"<z>": 3})"), both);
    expectError(ErrorKind::checkpoint, "tokenizer_config.json: added_tokens_decoder has the key \"x\"",
                [&] { ids(R"({"added_tokens_decoder": {"x": {"content": "<x>"}}})", ""); });
    expectError(ErrorKind::checkpoint, "added_tokens.json: ", [&] { ids("", R"({"<x>": )"); });
}

/// As in transformers 5.24.0, whose class of BERT's tokenizers has its own normalizer.
TEST(Tokenizers, OfBertTakeTheirNormalizerFromTheConfigurationBeside) {
    const std::string tokenizer = smallTokenizer(
        R"({"model": {"type": "WordLevel", "vocab": {"A": 4}, "unk_token": "▁", "merges": null},
            "normalizer": {"type": "BertNormalizer", "lowercase": false}})");
    const auto ids = [&](const std::string& config) {
        const TemporaryFolder folder;
        std::ofstream(folder / "tokenizer.json") << tokenizer;
        std::ofstream(folder / "tokenizer_config.json") << config;
        return readTokenizerJson(folder / "tokenizer.json").encode("A");
    };
    EXPECT_EQ(ids("{}"), (Ids{4}));
    EXPECT_EQ(ids(R"({"tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": true})"), (Ids{4}));
    EXPECT_EQ(ids(R"({"tokenizer_class": "BertTokenizer"})"), (Ids{0}));
    EXPECT_EQ(ids(R"({"tokenizer_class": "BertTokenizer", "do_lower_case": false})"), (Ids{4}));
}

TEST(Tokenizers, ByteLevelOnesGiveTheTextBack) {
    const nlohmann::json content = reference();
    for (const auto& one : content["tokenizers"]) {
        if (one["name"] != "GPT-2" && one["name"] != "SmolLM") continue;
        const Tokenizer tokenizer = parseTokenizerJson(one["tokenizer"].get<std::string>(), "tokenizer.json");
        for (const auto& text : content["texts"]) {
            // Added tokens include the whitespace around them.
            if (text.get<std::string>().find('<') != std::string::npos) continue;
            EXPECT_EQ(tokenizer.decode(tokenizer.encode(text.get<std::string>())), text.get<std::string>());
        }
    }
}

TEST(Tokenizers, SentencePieceVocabulariesMergeByScore) {
    const std::vector<std::string> pieces = {"a", "b", "ab", "ba", "aba", "bab"};
    const auto encoded = [&](const std::vector<double>& scores, const char* word) {
        Ids ids;
        EncodingBudget budget(0);
        Bpe bpe((Pieces(pieces)));
        bpe.setMerges(mergesFromScores(bpe.pieces(), scores));
        bpe.encode(word, budget, ids);
        return ids;
    };
    EXPECT_EQ(encoded({-9, -9, -1, -2, -3, -4}, "abab"), (Ids{2, 2}));
    EXPECT_EQ(encoded({-9, -9, -2, -1, -3, -4}, "abab"), (Ids{4, 1}));
    // Among equal scores the leftmost wins.
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
    refuses(smallTokenizer(R"({"model": {"type": "Morphemes"}})"),
            "the model \"Morphemes\" is not supported");
    refuses(smallTokenizer(R"({"model": {"dropout": 0.1}})"), "member of the model \"dropout\"");
    refuses(smallTokenizer(R"({"normalizer": {"type": "Transliterate"}})"), "normalizer \"Transliterate\"");
    refuses(smallTokenizer(R"({"pre_tokenizer": {"type": "Syllables"}})"), "pre_tokenizer \"Syllables\"");
    refuses(smallTokenizer(R"({"post_processor": {"type": "Pairs"}})"), "post_processor \"Pairs\"");
    refuses(smallTokenizer(R"({"decoder": {"type": "Rhymes"}})"), "decoder \"Rhymes\"");
    refuses(smallTokenizer(R"({"pre_tokenizer": {"type": "FixedLength", "length": 0}})"), "length is \"0\"");
    refuses(smallTokenizer(R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}})"),
            "precompiled_charsmap is too short");
    refuses(smallTokenizer(R"({"added_tokens": [{"content": "x", "id": 9}], "post_processor": {
                              "type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x"}}],
                              "special_tokens": {"x": {"ids": [4]}}}})"),
            "must contain the text A exactly once");
    refuses(smallTokenizer(R"({"post_processor": {"type": "Sequence", "processors": [
                              {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A"}}]},
                              {"type": "BertProcessing", "cls": ["a", 0], "sep": ["b", 1]}]}})"),
            "after TemplateProcessing \"BertProcessing\" is not supported");
    refuses(smallTokenizer(R"({"model": {"merges": ["a c"]}})"), "needs a token that the vocabulary lacks");
    refuses(smallTokenizer(R"({"model": {"merges": ["ab"]}})"), "has no space");
    refuses(smallTokenizer(R"({"model": {"vocab": {"a": -1}}})"), "has the id -1");
    refuses(smallTokenizer(R"({"model": {"vocab": {"a": 99999999999}}})"), "has the id 99999999999");
    refuses(
        smallTokenizer(
            R"({"pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "(a"}}})"),
        "the pattern \"(a\" cannot be compiled");
    refuses(smallTokenizer(R"({"added_tokens": [{"content": "x", "id": -5}]})"), "has the id -5");
    refuses(smallTokenizer(R"({"added_tokens": [{"content": "x", "id": 1.5}]})"),
            "1.5\" is given where an id");
    refuses(smallTokenizer(R"({"added_tokens": [{"content": "x", "id": 9}], "post_processor": {
                              "type": "TemplateProcessing",
                              "single": [{"SpecialToken": {"id": "x"}}, {"Sequence": {"id": "A"}}],
                              "special_tokens": {"x": {"ids": [8]}}}})"),
            "has no token 8");
    refuses(smallTokenizer(R"({"model": {"vocab": {"c": 1}}})"), "two tokens have the id 1");
    refuses(smallTokenizer(R"({"model": {"unk_token": "nothing"}})"), "lacks unk_token");
    refuses(R"({"model": {}, "model": {}})", "occurs twice");
    refuses(
        smallTokenizer(
            R"({"pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "[a&&[b]]"}}})"),
        "a set within a set");
    std::string deep;
    for (int i = 0; i < 1000; ++i)
        deep += R"({"type": "Sequence", "normalizers": [)";
    refuses(R"({"model": {"vocab": {}, "merges": []}, "normalizer": )" + deep, "nested too deeply");
}

TEST(Tokenizers, TextThatIsNotUtf8IsRefused) {
    expectError(ErrorKind::usage, "byte 1 is wrong", [] { idsOf(smallTokenizer(), "a\xff"); });
}

}  // namespace
}  // namespace roper
