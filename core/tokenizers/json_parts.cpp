#include "core/tokenizers/json_parts.h"

#include <stdexcept>

#include "core/base/text.h"
#include "core/tokenizers/json_members.h"
#include "core/tokenizers/token_model.h"

namespace roper {
namespace {

using Json = nlohmann::json;

/// Refuses a list that is too long before reading more of it. @param count  entries read so far
void requireBelowLimit(std::size_t count, std::size_t max_count, const char* what) {
    if (count >= max_count)
        throw std::invalid_argument("it has more than " + std::to_string(max_count) + " " + what);
}

/// Standard base64 (RFC 4648, 4).
std::string fromBase64(std::string_view text) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    while (text.ends_with('='))
        text.remove_suffix(1);
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char digit : text) {
        const std::size_t value = kDigits.find(digit);
        if (value == std::string_view::npos)
            throw std::invalid_argument("precompiled_charsmap is not base64");
        bits = (bits << 6U | static_cast<std::uint32_t>(value)) & 0xFFFFU;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
    }
    return bytes;
}

void addBertNormalizer(const Json& json, std::vector<Normalization>& steps) {
    using Kind = Normalization::Kind;
    const bool lower_case = jsonMemberOr(json, "lowercase", true);
    if (jsonMemberOr(json, "clean_text", true)) steps.push_back({Kind::clean});
    if (jsonMemberOr(json, "handle_chinese_chars", true)) steps.push_back({Kind::pad_chinese});
    if (jsonMemberOr(json, "strip_accents", lower_case)) {
        steps.push_back({Kind::nfd});
        steps.push_back({Kind::strip_nonspacing});
    }
    if (lower_case) steps.push_back({Kind::lower_case});
}

Normalization stripNormalizer(const Json& json) {
    Normalization step{Normalization::Kind::strip};
    step.at_left = jsonMemberOr(json, "strip_left", true);
    step.at_right = jsonMemberOr(json, "strip_right", true);
    return step;
}

Split::MatchBehavior matchOf(const std::string& name) {
    static const std::vector<std::pair<std::string, Split::MatchBehavior>> kKnown = {
        {"Isolated", Split::MatchBehavior::isolated},
        {"Removed", Split::MatchBehavior::removed},
        {"Contiguous", Split::MatchBehavior::contiguous},
        {"MergedWithPrevious", Split::MatchBehavior::merged_with_previous},
        {"MergedWithNext", Split::MatchBehavior::merged_with_next}};
    for (const auto& [known, match] : kKnown)
        if (name == known) return match;
    throwUnsupported("behavior of a split", name);
}

Split splitAt(Pattern pattern, Split::MatchBehavior match = Split::MatchBehavior::isolated,
              bool is_inverted = false) {
    return {.pattern = std::move(pattern), .match = match, .inverted = is_inverted};
}

std::string metaspaceReplacement(const Json& json) {
    std::string replacement = jsonMemberOr<std::string>(json, "replacement", "▁");
    requireOneCharacter(replacement, "replacement of Metaspace");
    return replacement;
}

Split::Prefix metaspacePrefix(const Json& json) {
    const std::string scheme = jsonMemberOr<std::string>(
        json, "prepend_scheme", jsonMemberOr(json, "add_prefix_space", true) ? "always" : "never");
    if (scheme == "first") return Split::Prefix::first;
    if (scheme == "always") return Split::Prefix::always;
    if (scheme == "never") return Split::Prefix::never;
    throw std::invalid_argument("prepend_scheme is \"" + toSingleLine(scheme) + "\"");
}

Split metaspace(const Json& json) {
    Split split;
    split.kind = Split::Kind::metaspace;
    split.space = metaspaceReplacement(json);
    split.pattern = Pattern::literal(split.space);
    split.prefix = metaspacePrefix(json);
    split.splits_words = jsonMemberOr(json, "split", true);
    return split;
}

void addByteLevel(const Json& json, std::vector<Split>& splits) {
    if (jsonMemberOr(json, "add_prefix_space", true)) splits.push_back({Split::Kind::prepend_space});
    if (jsonMemberOr(json, "use_regex", true)) splits.push_back(splitAt(Pattern(kGpt2Pattern)));
    splits.push_back({Split::Kind::bytes_to_unicode});
}

/// Words and runs of other characters that are no white space; \w has two characters more than in the
/// patterns of a tokenizer.json, which another library searches.
Split wordsAndOthers() {
    return splitAt(Pattern(R"([\w\x{200C}\x{200D}]+|[^\w\s\x{200C}\x{200D}]+)"),
                   Split::MatchBehavior::removed,
                   /*is_inverted=*/true);
}

Split fixedLength(const Json& json) {
    return {.kind = Split::Kind::fixed_length, .length = countIn(json, "length", 5, 1)};
}

Split delimited(const Json& json) {
    auto delimiter = jsonMember(json, "delimiter").get<std::string>();
    requireOneCharacter(delimiter, "delimiter of CharDelimiterSplit");
    return splitAt(Pattern::literal(std::move(delimiter)), Split::MatchBehavior::removed);
}

/// The special tokens that one post-processor puts around a text.
struct Marks {
    std::vector<std::int64_t> before, after;
};

Marks marksOfBert(const Json& json) {
    return {{requireInteger(jsonMember(json, "cls").at(1))}, {requireInteger(jsonMember(json, "sep").at(1))}};
}

Marks marksOfTemplate(const Json& json) {
    Marks marks;
    int texts = 0;
    for (const Json& one : jsonMember(json, "single")) {
        if (one.contains("Sequence")) {
            texts += jsonMemberOr<std::string>(one["Sequence"], "id", "") == "A" ? 1 : 2;
            continue;
        }
        const auto name = jsonMember(jsonMember(one, "SpecialToken"), "id").get<std::string>();
        const Json& token = jsonMember(jsonMember(json, "special_tokens"), name);
        for (const Json& id : jsonMember(token, "ids")) {
            requireBelowLimit(marks.before.size() + marks.after.size(), Tokenizer::kMaxSpecialTokens,
                              "special tokens around a text");
            (texts == 0 ? marks.before : marks.after).push_back(requireInteger(id));
        }
    }
    if (texts != 1)
        throw std::invalid_argument(
            "the post_processor \"TemplateProcessing\" must contain the text A exactly once");
    return marks;
}

/// In tokenizers 0.23.3, TemplateProcessing hands each special token to the next post-processor as if it were
/// a text. @param is_filled  whether a template has been filled
void addPostProcessor(const Json& json, TokenizerParts& parts, bool& is_filled) {
    const std::string type = typeOfPart(json);
    if (json.is_null() || type == "ByteLevel") return;
    if (type == "Sequence") {
        for (const Json& one : jsonMember(json, "processors"))
            addPostProcessor(one, parts, is_filled);
        return;
    }
    if (is_filled) throwUnsupported("post_processor after TemplateProcessing", type);
    Marks marks;
    if (type == "TemplateProcessing")
        marks = marksOfTemplate(json);
    else if (type == "BertProcessing" || type == "RobertaProcessing")
        marks = marksOfBert(json);
    else
        throwUnsupported("post_processor", type);
    is_filled = type == "TemplateProcessing";
    const std::size_t count =
        parts.prefix_ids.size() + parts.suffix_ids.size() + marks.before.size() + marks.after.size();
    if (count > 0) requireBelowLimit(count - 1, Tokenizer::kMaxSpecialTokens, "special tokens around a text");
    parts.prefix_ids.insert(parts.prefix_ids.begin(), marks.before.begin(), marks.before.end());
    parts.suffix_ids.insert(parts.suffix_ids.end(), marks.after.begin(), marks.after.end());
}

Decoding decodingOf(const Json& json, const std::string& type) {
    using Kind = Decoding::Kind;
    const auto text = [&](const char* key, const char* otherwise) {
        return jsonMemberOr<std::string>(json, key, otherwise);
    };
    if (type == "ByteLevel") return {Kind::byte_level};
    if (type == "ByteFallback") return {Kind::byte_fallback};
    if (type == "Fuse") return {Kind::fuse};
    Decoding step;
    if (type == "WordPiece") {
        step = {Kind::word_piece, text("prefix", "##")};
        step.tidies = jsonMemberOr(json, "cleanup", true);
    } else if (type == "BPEDecoder") {
        step = {Kind::word_suffix, text("suffix", "</w>")};
    } else if (type == "CTC") {
        step = {Kind::ctc, text("pad_token", "<pad>")};
        step.tidies = jsonMemberOr(json, "cleanup", true);
        step.delimiter = text("word_delimiter_token", "|");
    } else if (type == "Metaspace") {
        step = {Kind::metaspace, metaspaceReplacement(json)};
        step.drops_first = metaspacePrefix(json) != Split::Prefix::never;
    } else if (type == "Strip") {
        step = {Kind::strip, text("content", "")};
        requireOneCharacter(step.text, "content of the decoder Strip");
        step.at_begin = countIn(json, "start", 0, 0);
        step.at_end = countIn(json, "stop", 0, 0);
    } else if (type == "Replace") {
        step = {Kind::replace, text("content", "")};
        step.pattern = patternIn(json);
    } else {
        throwUnsupported("decoder", type);
    }
    return step;
}

void addDecoder(const Json& json, std::vector<Decoding>& steps) {
    const std::string type = typeOfPart(json);
    requireKnown(json, "the decoder " + type,
                 {"type", "decoders", "prefix", "cleanup", "suffix", "pad_token", "word_delimiter_token",
                  "replacement", "prepend_scheme", "add_prefix_space", "split", "str_rep", "content", "start",
                  "stop", "pattern", "trim_offsets", "use_regex"});
    requireBelowLimit(steps.size(), Tokenizer::kMaxDecodings, "decoders");
    if (type == "Sequence")
        for (const Json& one : jsonMember(json, "decoders"))
            addDecoder(one, steps);
    else
        steps.push_back(decodingOf(json, type));
}

bool writesBytes(const TokenizerParts& parts) {
    for (const Split& split : parts.splits)
        if (split.kind == Split::Kind::bytes_to_unicode) return true;
    for (const Normalization& step : parts.normalizations)
        if (step.kind == Normalization::Kind::bytes_to_unicode) return true;
    return false;
}

/// Steps for a file without a decoder.
std::vector<Decoding> likelyDecoder(const TokenizerParts& parts, const Json& model) {
    using Kind = Decoding::Kind;
    if (writesBytes(parts)) return {{Kind::byte_level}};
    if (jsonMemberOr<std::string>(model, "type", "") == "WordPiece")
        return {{Kind::word_piece, jsonMemberOr<std::string>(model, "continuing_subword_prefix", "##")}};
    if (const auto suffix = jsonMemberOr<std::string>(model, "end_of_word_suffix", ""); !suffix.empty())
        return {{Kind::word_suffix, suffix}};
    Decoding spaces{Kind::metaspace, "▁"};
    for (const Split& split : parts.splits)
        if (split.kind == Split::Kind::metaspace) spaces.text = split.space;
    if (parts.model->byte_fallback) return {{Kind::byte_fallback}, std::move(spaces)};
    return {std::move(spaces)};
}

}  // namespace

void readNormalizer(const Json& json, TokenizerParts& parts) {
    using Kind = Normalization::Kind;
    if (json.is_null()) return;
    const std::string type = typeOfPart(json);
    requireKnown(
        json, "the normalizer " + type,
        {"type", "normalizers", "prepend", "pattern", "content", "clean_text", "handle_chinese_chars",
         "strip_accents", "lowercase", "strip_left", "strip_right", "precompiled_charsmap"});
    if (type == "Sequence") {
        for (const Json& one : jsonMember(json, "normalizers"))
            readNormalizer(one, parts);
        return;
    }
    std::vector<Normalization>& steps = parts.normalizations;
    requireBelowLimit(steps.size(), Tokenizer::kMaxNormalizations, "normalizers");
    static const std::vector<std::pair<std::string, Kind>> kPlain = {{"NFC", Kind::nfc},
                                                                     {"NFD", Kind::nfd},
                                                                     {"NFKC", Kind::nfkc},
                                                                     {"NFKD", Kind::nfkd},
                                                                     {"Nmt", Kind::nmt},
                                                                     {"Lowercase", Kind::lower_case},
                                                                     {"StripAccents", Kind::strip_accents},
                                                                     {"ByteLevel", Kind::bytes_to_unicode}};
    for (const auto& [name, kind] : kPlain)
        if (type == name) {
            steps.push_back({kind});
            return;
        }
    if (type == "Prepend") {
        steps.push_back({Kind::prepend, {}, jsonMember(json, "prepend").get<std::string>()});
    } else if (type == "Replace") {
        steps.push_back({Kind::replace, patternIn(json), jsonMember(json, "content").get<std::string>()});
    } else if (type == "BertNormalizer") {
        addBertNormalizer(json, steps);
    } else if (type == "Strip") {
        steps.push_back(stripNormalizer(json));
    } else if (type == "Precompiled") {
        steps.push_back({Kind::graphemes_by_map});
        steps.back().charsmap = std::make_shared<const Charsmap>(
            fromBase64(jsonMember(json, "precompiled_charsmap").get_ref<const std::string&>()));
    } else {
        throwUnsupported("normalizer", type);
    }
}

void readPreTokenizer(const Json& json, TokenizerParts& parts) {
    if (json.is_null()) return;
    const std::string type = typeOfPart(json);
    requireKnown(json, "the pre_tokenizer " + type,
                 {"type", "pretokenizers", "pattern", "behavior", "invert", "individual_digits",
                  "add_prefix_space", "trim_offsets", "use_regex", "replacement", "prepend_scheme", "split",
                  "str_rep", "delimiter", "length"});
    std::vector<Split>& splits = parts.splits;
    requireBelowLimit(splits.size(), Tokenizer::kMaxSplits, "pre_tokenizers");
    if (type == "Sequence") {
        for (const Json& one : jsonMember(json, "pretokenizers"))
            readPreTokenizer(one, parts);
    } else if (type == "ByteLevel") {
        addByteLevel(json, splits);
    } else if (type == "Split") {
        splits.push_back(splitAt(patternIn(json), matchOf(jsonMember(json, "behavior").get<std::string>()),
                                 jsonMemberOr(json, "invert", false)));
    } else if (type == "Digits") {
        const bool each = jsonMemberOr(json, "individual_digits", false);
        // The library's digits are those of Unicode 17, its patterns' \p{N} those of Unicode 16.
        constexpr const char* kDigit = "[\\p{N}\U00011DE0-\U00011DE9\U00016FF4-\U00016FF6]";
        splits.push_back(splitAt(Pattern(each ? kDigit : std::string(kDigit) + "+")));
    } else if (type == "Punctuation") {
        splits.push_back(
            splitAt(punctuationMark(), matchOf(jsonMemberOr<std::string>(json, "behavior", "Isolated"))));
    } else if (type == "BertPreTokenizer") {
        addBertSplits(splits);
    } else if (type == "Whitespace") {
        splits.push_back(wordsAndOthers());
    } else if (type == "WhitespaceSplit") {
        splits.push_back(splitAt(Pattern(R"(\s)"), Split::MatchBehavior::removed));
    } else if (type == "CharDelimiterSplit") {
        splits.push_back(delimited(json));
    } else if (type == "UnicodeScripts") {
        splits.push_back({Split::Kind::scripts});
    } else if (type == "FixedLength") {
        splits.push_back(fixedLength(json));
    } else if (type == "Metaspace") {
        splits.push_back(metaspace(json));
    } else {
        throwUnsupported("pre_tokenizer", type);
    }
}

void readPostProcessor(const Json& json, TokenizerParts& parts) {
    bool is_filled = false;
    addPostProcessor(json, parts, is_filled);
}

void readDecoder(const Json& tokenizer, TokenizerParts& parts) {
    const Json& decoder = jsonMember(tokenizer, "decoder");
    if (decoder.is_null())
        parts.decodings = likelyDecoder(parts, jsonMember(tokenizer, "model"));
    else
        addDecoder(decoder, parts.decodings);
}

}  // namespace roper
