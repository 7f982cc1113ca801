#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/pretrained/family.h"
#include "core/tokenizers/bpe.h"
#include "core/tokenizers/gguf_patterns.h"
#include "core/tokenizers/tokenizer_files.h"
#include "core/tokenizers/unigram.h"
#include "core/tokenizers/word_models.h"

namespace roper {
namespace {

constexpr const char* kBlank = "▁";
/// A value of `tokenizer.ggml.model`, and of `tokenizer.ggml.pre`.
constexpr const char* kGemma4 = "gemma4";

/// Values of `tokenizer.ggml.token_type`.
enum TokenType { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

const std::vector<std::string>& requiredTexts(const GgufMetadata& metadata, const char* key) {
    const auto* const texts = metadata.texts(key);
    if (texts == nullptr) metadata.refuse(key, "is missing: the file contains no tokenizer");
    return *texts;
}

std::vector<Bpe::Merge> readGgufMerges(const GgufMetadata& metadata, const Bpe& vocabulary) {
    std::vector<Bpe::Merge> merges;
    constexpr const char* kKey = "tokenizer.ggml.merges";
    for (const std::string& merge : requiredTexts(metadata, kKey)) {
        // A piece may begin with a blank but contains no other.
        const std::size_t blank = merge.find(' ', 1);
        if (blank == std::string::npos)
            metadata.refuse(kKey, "contains " + quoteExcerpt(merge) + ", which has no space");
        const auto found = vocabulary.mergeOf(merge.substr(0, blank), merge.substr(blank + 1), merges.size());
        if (!found)
            metadata.refuse(
                kKey, "contains " + quoteExcerpt(merge) + ", which needs a token that the vocabulary lacks");
        merges.push_back(*found);
    }
    return merges;
}

/// The pattern by which the file's model splits text into words.
const KnownPattern& knownPatternOf(const GgufMetadata& metadata, const std::string& model) {
    constexpr const char* kKey = "tokenizer.ggml.pre";
    const Family* const family = findGgufFamily(metadata.text("general.architecture").value_or(""));
    const auto given = model == kGemma4 ? model : metadata.text(kKey);
    if (!given && (family == nullptr || !family->gguf_rules.old_files_use_gpt2_pattern))
        metadata.refuse(
            kKey, "is missing: the file does not say how its model splits words, so ids would be guesses");
    const std::string name = given.value_or("gpt-2");
    if (const KnownPattern* const known = knownPattern(name)) return *known;
    metadata.refuse(kKey, "is \"" + toSingleLine(name) + "\", an unknown pre-tokenizer; known are " +
                              join(supportedPreTokenizers(), ", "));
}

/// Types of tokens, `kNormal` if the file does not tell.
std::vector<std::int64_t> tokenTypes(const GgufMetadata& metadata, std::size_t tokens) {
    constexpr const char* kKey = "tokenizer.ggml.token_type";
    const auto* const types = metadata.integers(kKey);
    if (types == nullptr) return std::vector<std::int64_t>(tokens, kNormal);
    if (types->size() != tokens)
        metadata.refuse(kKey, "contains " + std::to_string(types->size()) + " numbers for " +
                                  std::to_string(tokens) + " tokens");
    return *types;
}

std::optional<std::int32_t> tokenId(const GgufMetadata& metadata, const std::string& key,
                                    std::size_t tokens) {
    const auto id = metadata.integer(key, 0, static_cast<std::int64_t>(tokens) - 1);
    return id ? std::optional(static_cast<std::int32_t>(*id)) : std::nullopt;
}

/// The first of several ids that the file gives; `otherwise` if it gives none.
std::int64_t firstTokenId(const GgufMetadata& metadata, std::initializer_list<const char*> keys,
                          std::int64_t otherwise, std::size_t tokens) {
    for (const char* const key : keys)
        if (const auto id = tokenId(metadata, key, tokens)) return *id;
    if (otherwise >= static_cast<std::int64_t>(tokens))
        metadata.refuse(*keys.begin(),
                        "is missing, and the vocabulary has no token " + std::to_string(otherwise));
    return otherwise;
}

/// Adds a special token that is put before or after every text. @param by_default  whether to add it if the
/// file does not say
void addMark(const GgufMetadata& metadata, const char* flag, const char* id_key, bool by_default,
             std::size_t vocabulary, std::vector<std::int64_t>& into) {
    if (!metadata.flag(flag).value_or(by_default)) return;
    const auto id = tokenId(metadata, id_key, vocabulary);
    if (!id) metadata.refuse(id_key, std::string("is missing, though ") + flag + " requires it");
    into.push_back(*id);
}

void addMarks(const GgufMetadata& metadata, bool begins_with_mark, bool ends_with_mark,
              std::size_t vocabulary, TokenizerParts& parts) {
    addMark(metadata, "tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id", begins_with_mark,
            vocabulary, parts.prefix_ids);
    addMark(metadata, "tokenizer.ggml.add_eos_token", "tokenizer.ggml.eos_token_id", ends_with_mark,
            vocabulary, parts.suffix_ids);
}

/// The id of the first token of type `kUnknown`.
std::optional<std::int32_t> firstUnknown(const std::vector<std::int64_t>& types) {
    const auto found = std::find(types.begin(), types.end(), kUnknown);
    if (found == types.end()) return std::nullopt;
    return static_cast<std::int32_t>(found - types.begin());
}

Normalization blanksWritten() {
    return {Normalization::Kind::replace, Pattern::literal(" "), kBlank};
}

std::vector<Decoding> bytesAndBlanks() {
    return {{Decoding::Kind::byte_fallback}, {Decoding::Kind::metaspace, kBlank}};
}

TokenizerParts pairParts(const GgufMetadata& metadata, const std::string& model,
                         const std::vector<std::string>& pieces) {
    TokenizerParts parts;
    auto bpe = std::make_unique<Bpe>(Pieces(pieces));
    bpe->setMerges(readGgufMerges(metadata, *bpe));
    const KnownPattern& known = knownPatternOf(metadata, model);
    if (metadata.flag("tokenizer.ggml.add_space_prefix").value_or(false))
        parts.splits.push_back({Split::Kind::prepend_space});
    for (const std::string& expression : known.expressions)
        parts.splits.push_back({.pattern = Pattern(expression)});
    if (known.byte_level) {
        parts.splits.push_back({Split::Kind::bytes_to_unicode});
        parts.decodings = {{Decoding::Kind::byte_level}};
    } else {
        parts.normalizations.push_back(blanksWritten());
        parts.decodings = bytesAndBlanks();
        bpe->byte_fallback = true;
        bpe->fuse_unknown = true;
    }
    bpe->ignore_merges = known.ignore_merges;
    bpe->unknown = firstUnknown(tokenTypes(metadata, pieces.size()));
    parts.model = std::move(bpe);
    addMarks(metadata, known.begins_with_mark, false, pieces.size(), parts);
    return parts;
}

const std::vector<double>& requiredScores(const GgufMetadata& metadata, std::size_t tokens) {
    constexpr const char* kKey = "tokenizer.ggml.scores";
    const auto* const scores = metadata.numbers(kKey);
    if (scores == nullptr || scores->size() != tokens)
        metadata.refuse(kKey, "must contain a number for each of " + std::to_string(tokens) + " tokens");
    if (!std::all_of(scores->begin(), scores->end(), [](double score) { return std::isfinite(score); }))
        metadata.refuse(kKey, "contains a score that is not a finite number");
    return *scores;
}

/// SentencePiece's map of characters; null if the file has none.
std::shared_ptr<const Charsmap> charsmapOf(const GgufMetadata& metadata) {
    constexpr const char* kKey = "tokenizer.ggml.precompiled_charsmap";
    const auto* const numbers = metadata.integers(kKey);
    if (numbers == nullptr || numbers->empty()) return nullptr;
    std::string bytes;
    for (const std::int64_t number : *numbers) {
        if (number < -128 || number > 255) metadata.refuse(kKey, "contains numbers that are not bytes");
        bytes += static_cast<char>(number);
    }
    try {
        return std::make_shared<const Charsmap>(bytes);
    } catch (const std::invalid_argument& error) {
        metadata.refuse(kKey, std::string("cannot be read: ") + error.what());
    }
}

/// Reads how SentencePiece changes a text: it applies its map, and writes blanks as "▁". A file that does not
/// tell whether it keeps several blanks keeps them.
void addNormalizations(const GgufMetadata& metadata, TokenizerParts& parts) {
    using Kind = Normalization::Kind;
    if (auto charsmap = charsmapOf(metadata)) {
        parts.normalizations.push_back({Kind::longest_by_map});
        parts.normalizations.back().charsmap = std::move(charsmap);
    }
    if (metadata.flag("tokenizer.ggml.remove_extra_whitespaces").value_or(false)) {
        parts.normalizations.push_back({Kind::replace, Pattern(R"(\A +|[ ▁]+\z)"), ""});
        parts.normalizations.push_back({Kind::replace, Pattern(" +"), " "});
    }
    if (metadata.flag("tokenizer.ggml.add_space_prefix").value_or(true))
        parts.normalizations.push_back({Kind::prepend, {}, " "});
    parts.normalizations.push_back(blanksWritten());
}

TokenizerParts scoredPairParts(const GgufMetadata& metadata, const std::vector<std::string>& pieces) {
    TokenizerParts parts;
    auto bpe = std::make_unique<Bpe>(Pieces(pieces));
    try {
        bpe->setMerges(mergesFromScores(bpe->pieces(), requiredScores(metadata, pieces.size())));
    } catch (const std::invalid_argument& error) {
        metadata.refuse("tokenizer.ggml.tokens", std::string("cannot be merged by scores: ") + error.what());
    }
    bpe->byte_fallback = true;
    bpe->fuse_unknown = true;
    bpe->unknown = firstUnknown(tokenTypes(metadata, pieces.size()));
    parts.model = std::move(bpe);
    parts.decodings = bytesAndBlanks();
    addNormalizations(metadata, parts);
    addMarks(metadata, true, false, pieces.size(), parts);
    return parts;
}

/// Unigram tokenizers (T5, XLM-R). As in llama.cpp, tokens that a user defined cost nothing, and only normal
/// tokens set the score of unknown characters.
TokenizerParts unigramParts(const GgufMetadata& metadata, const std::vector<std::string>& pieces) {
    constexpr const char* kSuffix = "tokenizer.ggml.treat_whitespace_as_suffix";
    if (metadata.flag(kSuffix).value_or(false)) metadata.refuse(kSuffix, "is true, which is not supported");
    constexpr const char* kEscape = "tokenizer.ggml.escape_whitespaces";
    if (!metadata.flag(kEscape).value_or(true)) metadata.refuse(kEscape, "is false, which is not supported");
    const std::vector<std::int64_t> types = tokenTypes(metadata, pieces.size());
    std::vector<double> scores = requiredScores(metadata, pieces.size());
    std::vector<bool> searched(pieces.size());
    std::optional<double> lowest;
    for (std::size_t id = 0; id < pieces.size(); ++id) {
        searched[id] = types[id] == kNormal || types[id] == kUserDefined || types[id] == kUnused;
        if (types[id] == kNormal) lowest = std::min(lowest.value_or(scores[id]), scores[id]);
        if (types[id] == kUserDefined) scores[id] = 0;
    }
    auto unknown = tokenId(metadata, "tokenizer.ggml.unknown_token_id", pieces.size());
    if (!unknown) unknown = firstUnknown(types);
    auto unigram = std::make_unique<Unigram>(Pieces(pieces), std::move(scores), unknown, searched);
    unigram->unknown_score = lowest.value_or(0) - Unigram::kUnknownPenalty;
    TokenizerParts parts;
    parts.model = std::move(unigram);
    parts.decodings = {{Decoding::Kind::metaspace, kBlank}};
    addNormalizations(metadata, parts);
    addMarks(metadata, false, true, pieces.size(), parts);
    return parts;
}

/// The vocabulary of BERT's files: llama.cpp writes "▁" before pieces that begin a word and nothing before
/// those that continue one.
std::vector<std::string> withContinuations(const std::vector<std::string>& pieces,
                                           const std::vector<std::int64_t>& types) {
    std::vector<std::string> written;
    for (std::size_t id = 0; id < pieces.size(); ++id) {
        const std::string& piece = pieces[id];
        const bool is_special = types[id] == kControl || types[id] == kUnknown ||
                                (piece.starts_with('[') && piece.ends_with(']'));
        written.push_back(piece.starts_with(kBlank)     ? piece.substr(std::string(kBlank).size())
                          : is_special || piece.empty() ? piece
                                                        : "##" + piece);
    }
    return written;
}

TokenizerParts wordPieceParts(const GgufMetadata& metadata, const std::vector<std::string>& given) {
    using Kind = Normalization::Kind;
    const std::size_t count = given.size();
    const auto pieces = withContinuations(given, tokenTypes(metadata, count));
    const auto unknown =
        static_cast<std::size_t>(firstTokenId(metadata, {"tokenizer.ggml.unknown_token_id"}, 100, count));
    TokenizerParts parts;
    parts.model = std::make_unique<WordPiece>(
        Pieces(pieces), UnknownToken{pieces[unknown], static_cast<std::int32_t>(unknown)});
    const bool lower_case = metadata.flag("tokenizer.ggml.normalizer.lowercase").value_or(true);
    parts.normalizations = {{Kind::clean}, {Kind::pad_chinese}};
    if (metadata.flag("tokenizer.ggml.normalizer.strip_accents").value_or(lower_case)) {
        parts.normalizations.push_back({Kind::nfd});
        parts.normalizations.push_back({Kind::strip_nonspacing});
    }
    if (lower_case) parts.normalizations.push_back({Kind::lower_case});
    addBertSplits(parts.splits);
    parts.decodings = {{Decoding::Kind::word_piece, "##"}};
    // llama.cpp adds both whatever add_bos_token and add_sep_token say; its converter writes the latter as
    // false unless a template for pairs of texts has another separator.
    parts.prefix_ids = {
        firstTokenId(metadata, {"tokenizer.ggml.cls_token_id", "tokenizer.ggml.bos_token_id"}, 101, count)};
    parts.suffix_ids = {firstTokenId(metadata, {"tokenizer.ggml.seperator_token_id"}, 102, count)};
    return parts;
}

bool isOneOf(const std::string& text, std::initializer_list<const char*> texts) {
    return hasElement(texts, text);
}

/// White space that added tokens include. GGUF files do not tell; llama.cpp knows it of these models.
void addWhiteSpaceOfTokens(const GgufMetadata& metadata, std::vector<AddedToken>& tokens) {
    const auto given = [&](const char* key) { return metadata.text(key).value_or(""); };
    const std::string name = lowerCase(given("general.name")), pre = given("tokenizer.ggml.pre"),
                      architecture = given("general.architecture");
    const auto isNamed = [&](const char* part) { return name.find(part) != std::string::npos; };
    const bool is_jina = isOneOf(pre, {"jina-v2-de", "jina-v2-es", "jina-v2-code"}) ||
                         isOneOf(architecture, {"nomic-bert-moe", "jina-bert-v3"});
    for (AddedToken& token : tokens)
        if (is_jina)
            token.strips_left = token.text == "<mask>";
        else if (isNamed("phi-3") || isNamed("phi3"))
            token.strips_right = !isOneOf(token.text, {"<unk>", "<s>", "<|endoftext|>"});
        else if (isNamed("modern-bert"))
            token.strips_left = token.text == "[MASK]";
}

/// Tokens that are searched for in a text. Their texts in the file stand for themselves.
void addTokensByType(const GgufMetadata& metadata, const std::vector<std::string>& pieces,
                     TokenizerParts& parts) {
    const std::vector<std::int64_t> types = tokenTypes(metadata, pieces.size());
    for (std::size_t id = 0; id < pieces.size(); ++id) {
        const std::int64_t type = types[id];
        if (type == kControl || type == kUserDefined || type == kUnknown)
            parts.added_tokens.push_back({pieces[id], static_cast<std::int64_t>(id), type != kUserDefined});
    }
    addWhiteSpaceOfTokens(metadata, parts.added_tokens);
}

TokenizerParts partsOf(const GgufMetadata& metadata, const std::vector<std::string>& pieces) {
    constexpr const char* kKey = "tokenizer.ggml.model";
    const std::string model = metadata.text(kKey).value_or("");
    if (model == "gpt2" || model == kGemma4) return pairParts(metadata, model, pieces);
    if (model == "llama") return scoredPairParts(metadata, pieces);
    if (model == "t5") return unigramParts(metadata, pieces);
    if (model == "bert") return wordPieceParts(metadata, pieces);
    metadata.refuse(kKey,
                    "is \"" + toSingleLine(model) + "\"; supported are bert, gemma4, gpt2, llama and t5");
}

}  // namespace

Tokenizer tokenizerOf(const GgufMetadata& metadata) {
    const std::vector<std::string>& pieces = requiredTexts(metadata, "tokenizer.ggml.tokens");
    try {
        for (const std::string& piece : pieces)
            requireToken(piece);
    } catch (const std::invalid_argument& error) {
        metadata.refuse("tokenizer.ggml.tokens", std::string("is not a valid vocabulary: ") + error.what());
    }
    try {
        TokenizerParts parts = partsOf(metadata, pieces);
        parts.origin = metadata.origin();
        addTokensByType(metadata, pieces, parts);
        return Tokenizer(std::move(parts));
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::checkpoint, metadata.origin() + ": " + error.what());
    }
}

}  // namespace roper
