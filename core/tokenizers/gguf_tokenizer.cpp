#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/pretrained/family.h"
#include "core/tokenizers/tokenizer_files.h"

namespace roper {
namespace {

/// The patterns of the models' own tokenizer.json files, under the names that llama.cpp gives them.
struct KnownPattern {
    const char* name;
    std::vector<const char*> expressions;  ///< applied in order
    bool ignore_merges = false;
    /// A text begins with the model's first token, if the file does not say otherwise.
    bool begins_with_mark = false;
};

constexpr const char* kEachDigit = R"(\p{N})";
constexpr const char* kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

const std::vector<KnownPattern>& patterns() {
    static const std::vector<KnownPattern> known = {
        {"gpt-2", {kGpt2Pattern}},
        {"olmo", {kGpt2Pattern}},
        {"phi-2", {kGpt2Pattern}},
        {"mpt", {kGpt2Pattern}},
        {"smollm", {kEachDigit, kGpt2Pattern}},
        {"starcoder", {kEachDigit, kGpt2Pattern}},
        {"refact", {kEachDigit, kGpt2Pattern}},
        {"command-r", {kEachDigit, kGpt2Pattern}},
        {"llama-bpe", {kLlama3}, true, true},
        {"llama3", {kLlama3}, true, true},
        {"dbrx", {kLlama3}},
        {"smaug-bpe", {kLlama3}},
        {"qwen2", {kQwen2}},
        {"deepseek-r1-qwen", {kQwen2}},
        {"stablelm2", {kQwen2}},
        {"tekken", {kTekken}, true, true},
    };
    return known;
}

/// Values of `tokenizer.ggml.token_type`.
enum TokenType { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

const std::vector<std::string>& requiredTexts(const GgufMetadata& metadata, const char* key) {
    const auto* const texts = metadata.texts(key);
    if (texts == nullptr) metadata.refuse(key, "is missing: the file holds no tokenizer");
    return *texts;
}

std::vector<Bpe::Merge> readGgufMerges(const GgufMetadata& metadata, const Bpe& vocabulary) {
    std::vector<Bpe::Merge> merges;
    constexpr const char* kKey = "tokenizer.ggml.merges";
    for (const std::string& merge : requiredTexts(metadata, kKey)) {
        // A piece may begin with a blank but contains no other.
        const std::size_t blank = merge.find(' ', 1);
        if (blank == std::string::npos)
            metadata.refuse(kKey, "holds " + quoteExcerpt(merge) + ", without a blank");
        const auto found = vocabulary.mergeOf(merge.substr(0, blank), merge.substr(blank + 1), merges.size());
        if (!found)
            metadata.refuse(
                kKey, "holds " + quoteExcerpt(merge) + ", which needs a token that the vocabulary lacks");
        merges.push_back(*found);
    }
    return merges;
}

/// The pattern by which the file's model splits text into words.
const KnownPattern& knownPatternOf(const GgufMetadata& metadata) {
    constexpr const char* kKey = "tokenizer.ggml.pre";
    const Family* const family = findGgufFamily(metadata.text("general.architecture").value_or(""));
    const auto given = metadata.text(kKey);
    if (!given && (family == nullptr || !family->gguf_rules.old_files_use_gpt2_pattern))
        metadata.refuse(kKey,
                        "is missing: how this model cuts words is not said, so its ids would be guesses");
    const std::string name = given.value_or("gpt-2");
    for (const KnownPattern& known : patterns())
        if (name == known.name) return known;
    metadata.refuse(kKey, "is \"" + toSingleLine(name) +
                              "\", a way to cut words that is not known here; known are " +
                              join(supportedPreTokenizers(), ", "));
}

TokenizerParts byteLevelParts(const GgufMetadata& metadata, const std::vector<std::string>& pieces) {
    TokenizerParts parts((Bpe(pieces)));
    parts.bpe.setMerges(readGgufMerges(metadata, parts.bpe));
    parts.byte_level = true;
    if (metadata.flag("tokenizer.ggml.add_space_prefix").value_or(false))
        parts.splits.push_back({Split::Kind::prepend_blank});
    const KnownPattern& known = knownPatternOf(metadata);
    for (const char* const expression : known.expressions) {
        Split split;
        split.pattern = Pattern(expression);
        parts.splits.push_back(std::move(split));
    }
    parts.bpe.ignore_merges = known.ignore_merges;
    return parts;
}

TokenizerParts sentencePieceParts(const GgufMetadata& metadata, const std::vector<std::string>& pieces) {
    constexpr const char* kKey = "tokenizer.ggml.scores";
    const auto* const scores = metadata.numbers(kKey);
    if (scores == nullptr || scores->size() != pieces.size())
        metadata.refuse(kKey, "must hold a number for each of " + std::to_string(pieces.size()) + " tokens");
    if (!std::all_of(scores->begin(), scores->end(), [](double score) { return std::isfinite(score); }))
        metadata.refuse(kKey, "holds a score that is no number");
    TokenizerParts parts((Bpe(pieces)));
    try {
        parts.bpe.setMerges(mergesFromScores(parts.bpe, *scores));
    } catch (const std::invalid_argument& error) {
        metadata.refuse("tokenizer.ggml.tokens", std::string("cannot be merged by scores: ") + error.what());
    }
    parts.bpe.byte_fallback = true;
    parts.bpe.fuse_unknown = true;
    parts.normalizations.push_back({Normalization::Kind::replace, Pattern::literal(" "), "▁"});
    if (metadata.flag("tokenizer.ggml.add_space_prefix").value_or(true))
        parts.normalizations.push_back({Normalization::Kind::prepend, {}, "▁"});
    return parts;
}

void addTokensByType(const GgufMetadata& metadata, const std::vector<std::string>& pieces,
                     TokenizerParts& parts) {
    constexpr const char* kKey = "tokenizer.ggml.token_type";
    const auto* const types = metadata.integers(kKey);
    if (types == nullptr) return;
    if (types->size() != pieces.size())
        metadata.refuse(kKey, "holds " + std::to_string(types->size()) + " numbers for " +
                                  std::to_string(pieces.size()) + " tokens");
    for (std::size_t id = 0; id < pieces.size(); ++id) {
        const std::int64_t type = (*types)[id];
        if (type == kControl || type == kUserDefined || type == kUnknown)
            parts.added_tokens.push_back({pieces[id], static_cast<std::int64_t>(id), type != kUserDefined});
        if (type == kUnknown && !parts.bpe.unknown) parts.bpe.unknown = static_cast<std::int32_t>(id);
    }
}

/// Adds a special token that is put before or after every text. @param by_default  whether to add it if the
/// file does not say
void addMark(const GgufMetadata& metadata, const char* flag, const char* id_key, bool by_default,
             std::size_t vocabulary, std::vector<std::int64_t>& into) {
    if (!metadata.flag(flag).value_or(by_default)) return;
    const auto id = metadata.integer(id_key, 0, static_cast<std::int64_t>(vocabulary) - 1);
    if (!id) metadata.refuse(id_key, std::string("is missing, though ") + flag + " asks for it");
    into.push_back(*id);
}

}  // namespace

std::vector<std::string> supportedPreTokenizers() {
    std::vector<std::string> names;
    for (const KnownPattern& known : patterns())
        names.emplace_back(known.name);
    return names;
}

Tokenizer tokenizerOf(const GgufMetadata& metadata) {
    const std::vector<std::string>& pieces = requiredTexts(metadata, "tokenizer.ggml.tokens");
    try {
        for (const std::string& piece : pieces)
            requireToken(piece);
    } catch (const std::invalid_argument& error) {
        metadata.refuse("tokenizer.ggml.tokens", std::string("is no vocabulary: ") + error.what());
    }
    const std::string model = metadata.text("tokenizer.ggml.model").value_or("");
    const bool is_sentencepiece = model == "llama";
    if (!is_sentencepiece && model != "gpt2")
        metadata.refuse("tokenizer.ggml.model", "is \"" + toSingleLine(model) +
                                                    "\"; tokenizers of kind gpt2 and llama are understood");
    TokenizerParts parts =
        is_sentencepiece ? sentencePieceParts(metadata, pieces) : byteLevelParts(metadata, pieces);
    parts.origin = metadata.origin();
    addTokensByType(metadata, pieces, parts);
    const bool marks_beginning = is_sentencepiece || knownPatternOf(metadata).begins_with_mark;
    addMark(metadata, "tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id", marks_beginning,
            pieces.size(), parts.prefix_ids);
    addMark(metadata, "tokenizer.ggml.add_eos_token", "tokenizer.ggml.eos_token_id", false, pieces.size(),
            parts.suffix_ids);
    try {
        return Tokenizer(std::move(parts));
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::checkpoint, metadata.origin() + ": " + error.what());
    }
}

}  // namespace roper
