#include "tests/fuzz/tokenizer_grammar.h"

#include "core/tokenizers/tokenizer.h"

namespace roper {

using Json = nlohmann::json;

namespace {

constexpr int kMaxDepth = 3;

const std::vector<std::string> kLetters = {"a",      "b",  "c",      "a",  " ",      "  ",     "▁",
                                           "Ġ",      "\n", "1",      "12", "é",      "\u0301", "\u0323",
                                           "\u0F73", "日", "\uFDFA", "ﬁ",  "\u0085", "\u180E", "<s>",
                                           "<0x0A>", ".",  "'s",     "_",  "A",      "한",     "\u1161"};

}  // namespace

std::string TokenizerGrammar::letters(std::size_t most) {
    std::string text;
    for (std::size_t count = below(most + 1); count > 0; --count)
        text += oneOf(kLetters);
    return text;
}

/// The output of a normalizer. It is occasionally long, which lengthens a text many times.
std::string TokenizerGrammar::content() {
    std::string text = letters(3);
    if (oneIn(4))
        while (text.size() < 100)
            text += oneOf(kLetters);
    return text;
}

std::string TokenizerGrammar::characters(int depth) {
    static const std::vector<std::string> kClasses = {
        ".",      "\\s",      "\\S",    "\\d",  "\\w",  "\\W",   "\\p{L}",       "\\p{N}",
        "\\p{M}", "\\p{Han}", "\\P{L}", "[^a]", "[ab]", "[\\s]", "[^\\s\\p{L}]", "[\\r\\n]",
        "[]a]",   "[^]a]",    "\\X",    "\\R",  "\\n",  "\\x61", "\\x{1F600}",   "[a-c]"};
    if (oneIn(3)) return oneOf(kLetters);
    if (oneIn(20)) return "[" + letters(2) + (depth < kMaxDepth ? characters(depth + 1) : "") + "]";
    return oneOf(kClasses);
}

std::string TokenizerGrammar::expressionPart(int depth) {
    static const std::vector<std::string> kOpenings = {"(?:", "(",    "(?=", "(?!",   "(?<=", "(?<!",
                                                       "(?>", "(?i:", "(?|", "(?<x>", "(?s:"};
    static const std::vector<std::string> kPlaces = {
        "^",   "$",     "\\b",     "\\B", "\\A",   "\\z",  "\\G",     "\\K",   "(?R)", "(?1)",
        "\\1", "(?&x)", "(*FAIL)", "\\C", "(?C1)", "(?i)", "(?(1)a)", "(?#a)", "|"};
    if (oneIn(8)) return oneOf(kPlaces);
    if (depth < kMaxDepth && oneIn(3)) return oneOf(kOpenings) + expression(depth + 1) + ")";
    return characters(depth);
}

std::string TokenizerGrammar::expression(int depth) {
    static const std::vector<std::string> kRepeats = {"*",    "+",      "?",       "*?",     "+?",
                                                      "*+",   "++",     "{2}",     "{0,3}",  "{2,}",
                                                      "{,2}", "{1000}", "{0,60}?", "{65535}"};
    if (depth == 0 && oneIn(8)) return kGpt2Pattern;
    std::string made;
    for (std::size_t count = below(4) + (depth == 0 ? 1 : 0); count > 0; --count) {
        made += expressionPart(depth);
        if (oneIn(2)) made += oneOf(kRepeats);
        if (oneIn(5)) made += "|";
    }
    return made;
}

Json TokenizerGrammar::pattern() {
    if (oneIn(3)) return {{"String", letters(2)}};
    return {{"Regex", expression()}};
}

/// A small double array with some replacements, or random bytes, in base64.
Json TokenizerGrammar::charsmap() {
    static const std::string kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    const std::size_t units = 1U << below(10);
    const std::size_t claimed = oneIn(8) ? below(1U << 20U) : 4 * units;
    for (std::size_t i = 0; i < 4; ++i)
        bytes += static_cast<char>(claimed >> 8 * i & 0xFFU);
    for (std::size_t i = 0; i < units; ++i) {
        // A node whose label is its place, so that texts are found, with a random offset.
        const std::size_t unit = oneIn(8) ? random_() : (i & 0xFFU) | below(2) << 8U | below(512) << 10U;
        for (std::size_t k = 0; k < 4; ++k)
            bytes += static_cast<char>(unit >> 8 * k & 0xFFU);
    }
    bytes += letters(20);
    std::string text;
    std::uint32_t bits = 0;
    std::size_t count = 0;
    for (const char byte : bytes) {
        bits = bits << 8U | static_cast<unsigned char>(byte);
        for (count += 8; count >= 6; count -= 6)
            text += kDigits[bits >> (count - 6) & 63U];
    }
    return text;
}

Json TokenizerGrammar::stepNormalizer() {
    static const std::vector<std::string> kPlain = {"NFC", "NFD",       "NFKC",         "NFKD",
                                                    "Nmt", "Lowercase", "StripAccents", "ByteLevel"};
    switch (below(8)) {
        case 0:
        case 1:
            return {{"type", oneOf(kPlain)}};
        case 2:
            return {{"type", "Prepend"}, {"prepend", content()}};
        case 3:
            return {{"type", "Replace"}, {"pattern", pattern()}, {"content", content()}};
        case 4:
            return {{"type", "Strip"}, {"strip_left", oneIn(2)}, {"strip_right", oneIn(2)}};
        case 5:
            return {{"type", "Precompiled"}, {"precompiled_charsmap", charsmap()}};
        case 6:
            return {{"type", "BertNormalizer"},
                    {"clean_text", oneIn(2)},
                    {"handle_chinese_chars", oneIn(2)},
                    {"strip_accents", oneIn(3) ? Json() : Json(oneIn(2))},
                    {"lowercase", oneIn(2)}};
        default:
            return oneIn(4) ? Json()
                            : Json{{"type", "Replace"}, {"pattern", pattern()}, {"content", letters(2)}};
    }
}

Json TokenizerGrammar::normalizer(int depth) {
    if (depth >= kMaxDepth || !oneIn(3)) return stepNormalizer();
    Json steps = Json::array();
    for (std::size_t count = below(5); count > 0; --count)
        steps.push_back(normalizer(depth + 1));
    return {{"type", "Sequence"}, {"normalizers", steps}};
}

Json TokenizerGrammar::metaspace() {
    static const std::vector<std::string> kSchemes = {"first", "always", "never", "last"};
    Json made = {{"type", "Metaspace"}, {"replacement", oneIn(4) ? letters(1) : "▁"}, {"split", oneIn(2)}};
    if (oneIn(2))
        made["prepend_scheme"] = oneOf(kSchemes);
    else
        made["add_prefix_space"] = oneIn(2);
    return made;
}

Json TokenizerGrammar::stepPreTokenizer() {
    static const std::vector<std::string> kBehaviors = {"Isolated", "Removed", "Contiguous",
                                                        "MergedWithPrevious", "MergedWithNext"};
    static const std::vector<std::string> kPlain = {"Whitespace", "WhitespaceSplit", "BertPreTokenizer",
                                                    "UnicodeScripts"};
    switch (below(9)) {
        case 0:
            return {{"type", "ByteLevel"}, {"add_prefix_space", oneIn(2)}, {"use_regex", oneIn(2)}};
        case 1:
            return {{"type", "Digits"}, {"individual_digits", oneIn(2)}};
        case 2:
            return {{"type", "Punctuation"}, {"behavior", oneOf(kBehaviors)}};
        case 3:
            return metaspace();
        case 4:
            return {{"type", oneOf(kPlain)}};
        case 5:
            return {{"type", "CharDelimiterSplit"}, {"delimiter", oneOf(kLetters)}};
        case 6:
            return {{"type", "FixedLength"}, {"length", below(6)}};
        default:
            return {{"type", "Split"},
                    {"pattern", pattern()},
                    {"behavior", oneOf(kBehaviors)},
                    {"invert", oneIn(3)}};
    }
}

Json TokenizerGrammar::preTokenizer(int depth) {
    if (depth >= kMaxDepth || !oneIn(3)) return stepPreTokenizer();
    Json steps = Json::array();
    for (std::size_t count = below(5); count > 0; --count)
        steps.push_back(preTokenizer(depth + 1));
    return {{"type", "Sequence"}, {"pretokenizers", steps}};
}

Json TokenizerGrammar::stepDecoder() {
    static const std::vector<std::string> kPlain = {"ByteLevel", "ByteFallback", "Fuse"};
    switch (below(7)) {
        case 0:
            return {{"type", oneOf(kPlain)}};
        case 1:
            return {{"type", "WordPiece"}, {"prefix", letters(2)}, {"cleanup", oneIn(2)}};
        case 2:
            return {{"type", "BPEDecoder"}, {"suffix", letters(2)}};
        case 3:
            return {{"type", "CTC"},
                    {"pad_token", letters(2)},
                    {"word_delimiter_token", letters(1)},
                    {"cleanup", oneIn(2)}};
        case 4:
            return {{"type", "Strip"}, {"content", oneOf(kLetters)}, {"start", below(4)}, {"stop", below(4)}};
        case 5:
            return metaspace();
        default:
            return {{"type", "Replace"}, {"pattern", pattern()}, {"content", content()}};
    }
}

Json TokenizerGrammar::decoder(int depth) {
    if (depth >= kMaxDepth || !oneIn(3)) return stepDecoder();
    Json steps = Json::array();
    for (std::size_t count = below(5); count > 0; --count)
        steps.push_back(decoder(depth + 1));
    return {{"type", "Sequence"}, {"decoders", steps}};
}

Json TokenizerGrammar::id() {
    static const std::vector<std::int64_t> kOdd = {-1, 1 << 22, (1 << 22) - 1, 1000, std::int64_t{1} << 40};
    return oneIn(20) ? oneOf(kOdd) : static_cast<std::int64_t>(below(24));
}

Json TokenizerGrammar::postProcessor(int depth) {
    if (oneIn(4)) return {{"type", "ByteLevel"}};
    if (oneIn(4))
        return {{"type", oneIn(2) ? "BertProcessing" : "RobertaProcessing"},
                {"cls", Json::array({"<s>", id()})},
                {"sep", Json::array({"<s>", id()})}};
    if (depth < kMaxDepth && oneIn(4)) {
        Json steps = Json::array();
        for (std::size_t count = below(4); count > 0; --count)
            steps.push_back(postProcessor(depth + 1));
        return {{"type", "Sequence"}, {"processors", steps}};
    }
    Json ids = Json::array(), single = Json::array();
    for (std::size_t count = below(4); count > 0; --count)
        ids.push_back(id());
    for (std::size_t count = below(5); count > 0; --count)
        single.push_back(oneIn(3) ? Json{{"Sequence", {{"id", "A"}}}}
                                  : Json{{"SpecialToken", {{"id", "<s>"}}}});
    return {
        {"type", "TemplateProcessing"}, {"single", single}, {"special_tokens", {{"<s>", {{"ids", ids}}}}}};
}

Json TokenizerGrammar::addedTokens() {
    Json tokens = Json::array();
    for (std::size_t count = below(6); count > 0; --count) {
        Json token = {{"content", letters(3)}, {"id", id()}};
        for (const char* const flag : {"special", "normalized", "lstrip", "rstrip", "single_word"})
            if (oneIn(3)) token[flag] = oneIn(2);
        tokens.push_back(token);
    }
    return tokens;
}

/// Letters and the results of merging them in pairs, so that merges refer to the vocabulary.
Json TokenizerGrammar::vocabulary(std::vector<std::string>& pieces) {
    Json made = Json::object();
    for (std::size_t count = below(20) + 1; count > 0; --count) {
        const std::string piece = pieces.size() > 1 && oneIn(2) ? oneOf(pieces) + oneOf(pieces)
                                  : oneIn(5)                    ? byteCharacters()[below(256)]
                                                                : oneOf(kLetters);
        if (made.contains(piece) || piece.size() > 40) continue;
        made[piece] = oneIn(40) ? id() : Json(pieces.size());
        pieces.push_back(piece);
    }
    return made;
}

Json TokenizerGrammar::pairModel(const Json& vocabulary, const std::vector<std::string>& pieces) {
    Json merges = Json::array();
    for (std::size_t tries = below(200); tries > 0 && merges.size() < 20; --tries) {
        const std::string left = oneOf(pieces), right = oneOf(pieces);
        if (!vocabulary.contains(left + right) && !oneIn(200)) continue;
        merges.push_back(oneIn(2) ? Json(left + " " + right) : Json{left, right});
    }
    Json made = {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", merges}};
    for (const char* const flag : {"ignore_merges", "byte_fallback", "fuse_unk"})
        if (oneIn(3)) made[flag] = oneIn(2);
    for (const char* const affix : {"continuing_subword_prefix", "end_of_word_suffix"})
        if (oneIn(6)) made[affix] = letters(1);
    if (oneIn(3)) made["unk_token"] = oneOf(pieces);
    return made;
}

/// Scores are few different numbers, so that some ways to cut a word are equally likely.
Json TokenizerGrammar::unigramModel(const std::vector<std::string>& pieces) {
    static const std::vector<double> kScores = {0, -1, -1, -2, -3.4684369564056396, -100, 5};
    Json entries = Json::array();
    for (const std::string& piece : pieces)
        entries.push_back(Json::array({piece, oneOf(kScores)}));
    Json made = {{"type", "Unigram"}, {"vocab", entries}, {"byte_fallback", oneIn(2)}};
    if (!oneIn(4)) made["unk_id"] = below(pieces.size() + (oneIn(20) ? 2 : 0));
    return made;
}

Json TokenizerGrammar::model() {
    std::vector<std::string> pieces;
    const Json pieces_and_ids = vocabulary(pieces);
    switch (below(5)) {
        case 0:
            return {{"type", "WordPiece"},
                    {"vocab", pieces_and_ids},
                    {"unk_token", oneOf(pieces)},
                    {"continuing_subword_prefix", oneIn(2) ? "" : letters(1)},
                    {"max_input_chars_per_word", oneIn(4) ? below(1U << 20U) : below(8)}};
        case 1:
            return {{"type", "WordLevel"}, {"vocab", pieces_and_ids}, {"unk_token", oneOf(pieces)}};
        case 2:
            return unigramModel(pieces);
        default:
            return pairModel(pieces_and_ids, pieces);
    }
}

Json TokenizerGrammar::tokenizer() {
    Json made = {{"model", model()}};
    if (oneIn(2)) made["normalizer"] = normalizer();
    if (oneIn(2)) made["pre_tokenizer"] = preTokenizer();
    if (oneIn(3)) made["post_processor"] = postProcessor();
    if (oneIn(3)) made["decoder"] = decoder();
    if (oneIn(3)) made["added_tokens"] = addedTokens();
    return made;
}

}  // namespace roper
