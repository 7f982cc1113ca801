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

Json TokenizerGrammar::normalizer(int depth) {
    static const std::vector<std::string> kForms = {"NFC", "NFD", "NFKC", "NFKD"};
    if (depth < kMaxDepth && oneIn(3)) {
        Json steps = Json::array();
        for (std::size_t count = below(5); count > 0; --count)
            steps.push_back(normalizer(depth + 1));
        return {{"type", "Sequence"}, {"normalizers", steps}};
    }
    switch (below(4)) {
        case 0:
            return {{"type", oneOf(kForms)}};
        case 1:
            return {{"type", "Prepend"}, {"prepend", content()}};
        case 2:
            return {{"type", "Replace"}, {"pattern", pattern()}, {"content", content()}};
        default:
            return oneIn(4) ? Json()
                            : Json{{"type", "Replace"}, {"pattern", pattern()}, {"content", letters(2)}};
    }
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

Json TokenizerGrammar::preTokenizer(int depth) {
    static const std::vector<std::string> kBehaviors = {"Isolated", "Removed", "Contiguous",
                                                        "MergedWithPrevious", "MergedWithNext"};
    if (depth < kMaxDepth && oneIn(3)) {
        Json steps = Json::array();
        for (std::size_t count = below(5); count > 0; --count)
            steps.push_back(preTokenizer(depth + 1));
        return {{"type", "Sequence"}, {"pretokenizers", steps}};
    }
    switch (below(6)) {
        case 0:
            return {{"type", "ByteLevel"}, {"add_prefix_space", oneIn(2)}, {"use_regex", oneIn(2)}};
        case 1:
            return {{"type", "Digits"}, {"individual_digits", oneIn(2)}};
        case 2:
            return {{"type", "Punctuation"}, {"behavior", oneOf(kBehaviors)}};
        case 3:
            return metaspace();
        default:
            return {{"type", "Split"},
                    {"pattern", pattern()},
                    {"behavior", oneOf(kBehaviors)},
                    {"invert", oneIn(3)}};
    }
}

Json TokenizerGrammar::id() {
    static const std::vector<std::int64_t> kOdd = {-1, 1 << 22, (1 << 22) - 1, 1000, std::int64_t{1} << 40};
    return oneIn(20) ? oneOf(kOdd) : static_cast<std::int64_t>(below(24));
}

Json TokenizerGrammar::postProcessor(int depth) {
    if (oneIn(4)) return {{"type", "ByteLevel"}};
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

Json TokenizerGrammar::model() {
    std::vector<std::string> pieces;
    const Json pieces_and_ids = vocabulary(pieces);
    Json merges = Json::array();
    for (std::size_t tries = below(200); tries > 0 && merges.size() < 20; --tries) {
        const std::string left = oneOf(pieces), right = oneOf(pieces);
        if (!pieces_and_ids.contains(left + right) && !oneIn(200)) continue;
        merges.push_back(oneIn(2) ? Json(left + " " + right) : Json{left, right});
    }
    Json made = {{"type", "BPE"}, {"vocab", pieces_and_ids}, {"merges", merges}};
    for (const char* const flag : {"ignore_merges", "byte_fallback", "fuse_unk"})
        if (oneIn(3)) made[flag] = oneIn(2);
    if (oneIn(3)) made["unk_token"] = oneOf(pieces);
    return made;
}

Json TokenizerGrammar::tokenizer() {
    Json made = {{"model", model()}};
    if (oneIn(2)) made["normalizer"] = normalizer();
    if (oneIn(2)) made["pre_tokenizer"] = preTokenizer();
    if (oneIn(3)) made["post_processor"] = postProcessor();
    if (oneIn(3)) made["added_tokens"] = addedTokens();
    return made;
}

}  // namespace roper
