#include "core/tokenizers/tokenizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

std::string codePointAsUtf8(unsigned point) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto length = ::utf8proc_encode_char(static_cast<utf8proc_int32_t>(point), bytes.data());
    return {reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length)};
}

std::vector<std::string> makeByteCharacters() {
    std::vector<std::string> characters(256);
    unsigned next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
        const bool prints = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
        characters[byte] = codePointAsUtf8(prints ? byte : next++);
    }
    return characters;
}

/// Decodes byte characters to bytes; a character outside that alphabet stands for itself.
std::string bytesOfCharacters(std::string_view text) {
    static const auto bytes = [] {
        std::unordered_map<std::string, char> made;
        for (std::size_t byte = 0; byte < 256; ++byte)
            made.emplace(byteCharacters()[byte], static_cast<char>(byte));
        return made;
    }();
    std::string made;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = std::min(characterLength(text[at]), text.size() - at);
        const std::string character(text.substr(at, length));
        const auto found = bytes.find(character);
        if (found == bytes.end())
            made += character;
        else
            made += found->second;
        at += length;
    }
    return made;
}

/// The byte of a piece such as <0x0A>; nothing for any other piece.
std::optional<char> byteOfPiece(std::string_view piece) {
    if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return std::nullopt;
    int byte = 0;
    for (const char digit : piece.substr(3, 2)) {
        const char* const digits = "0123456789ABCDEF";
        const std::size_t value = std::string_view(digits).find(digit);
        if (value == std::string_view::npos) return std::nullopt;
        byte = 16 * byte + static_cast<int>(value);
    }
    return static_cast<char>(byte);
}

/// A Metaspace whose prepend_scheme is "first" depends on the position in the text before normalization
/// (tokenizers 0.23.3). That position is unknown here if normalizers replace or insert something, or if added
/// tokens split the text before it is normalized.
void requireKnownTextStart(const TokenizerParts& parts) {
    const auto first = std::find_if(parts.splits.begin(), parts.splits.end(),
                                    [](const Split& split) { return split.prefix == Split::Prefix::first; });
    if (first == parts.splits.end() || parts.normalizations.empty()) return;
    const bool replaces =
        std::any_of(parts.normalizations.begin(), parts.normalizations.end(),
                    [](const Normalization& change) { return !change.text.empty() || change.pattern; });
    const bool is_divided = first != parts.splits.begin() ||
                            std::any_of(parts.added_tokens.begin(), parts.added_tokens.end(),
                                        [](const AddedToken& token) { return token.normalized; });
    if (replaces || is_divided)
        throw std::invalid_argument(
            "a pre_tokenizer \"Metaspace\" with the prepend_scheme \"first\" is not understood here behind a "
            "normalizer Prepend or Replace, or where other pre_tokenizers or added tokens divide normalized "
            "text before");
}

void requirePartLimits(const TokenizerParts& parts) {
    const auto require = [](std::size_t count, std::size_t max_count, const char* what) {
        if (count > max_count)
            throw std::invalid_argument("it has " + std::to_string(count) + " " + what + "; " +
                                        std::to_string(max_count) + " are possible");
    };
    require(parts.prefix_ids.size() + parts.suffix_ids.size(), Tokenizer::kMaxSpecialTokens,
            "special tokens around a text");
    require(parts.normalizations.size(), Tokenizer::kMaxNormalizations, "normalizers");
    require(parts.splits.size(), Tokenizer::kMaxSplits, "pre_tokenizers");
    for (const Normalization& change : parts.normalizations)
        require(change.text.size(), Tokenizer::kMaxContentBytes, "bytes that a normalizer writes");
    const auto metaspaces = std::count_if(parts.splits.begin(), parts.splits.end(), [](const Split& split) {
        return split.kind == Split::Kind::metaspace;
    });
    require(static_cast<std::size_t>(metaspaces), 1, "pre_tokenizers \"Metaspace\"");
    const bool is_character =
        !parts.blank.empty() && parts.blank.size() == characterLength(parts.blank.front());
    if (!is_character) throw std::invalid_argument("the replacement of Metaspace is not one character");
}

}  // namespace

void requireToken(const std::string& text) {
    constexpr std::size_t kMaxBytes = 1024;
    if (text.size() > kMaxBytes)
        throw std::invalid_argument("the token " + quoteExcerpt(text) + " is too long");
    if (findInvalidUtf8(text) != std::string_view::npos)
        throw std::invalid_argument("the token " + quoteExcerpt(toSingleLine(text)) + " is not UTF-8");
}

void requireTokenId(const AddedToken& token) {
    if (token.id < 0 || token.id > kMaxTokenId)
        throw std::invalid_argument("the token " + quoteExcerpt(token.text) + " has the id " +
                                    std::to_string(token.id));
}

const char* const kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

const std::vector<std::string>& byteCharacters() {
    static const std::vector<std::string> characters = makeByteCharacters();
    return characters;
}

Tokenizer::Tokenizer(TokenizerParts parts) : parts_(std::move(parts)) {
    requirePartLimits(parts_);
    requireKnownTextStart(parts_);
    size_ = static_cast<std::int64_t>(parts_.bpe.pieces().size());
    for (const AddedToken& token : parts_.added_tokens) {
        requireToken(token.text);
        requireTokenId(token);
        if (token.text.empty()) continue;
        added_by_id_[token.id] = &token;  // of duplicate texts, the last counts
        size_ = std::max(size_, token.id + 1);
    }
    prepareAddedTokens();
    for (const auto* const ids : {&parts_.prefix_ids, &parts_.suffix_ids})
        for (const std::int64_t id : *ids)
            if (!added_by_id_.contains(id) && (id < 0 || id >= std::ssize(parts_.bpe.pieces())))
                throw std::invalid_argument("the vocabulary has no token " + std::to_string(id) +
                                            ", which is to stand around every text");
}

/// Prepares both searches. In Hugging Face's tokenizers (0.23.3) it is undefined which of several added
/// tokens wins if they normalize to the same text.
void Tokenizer::prepareAddedTokens() {
    std::vector<AddedTokenSearch::SearchEntry> raw_tokens, normalized_tokens;
    std::map<std::string, const AddedToken*> known;
    std::size_t bytes = 0;
    for (const auto& [id, token] : added_by_id_)
        bytes += token->normalized ? token->text.size() : 0;
    EncodingBudget budget(std::min(bytes, EncodingBudget::kMaxTextBytes));
    for (const auto& [id, token] : added_by_id_) {
        if (!token->normalized) {
            raw_tokens.push_back({token->text, token});
            continue;
        }
        std::string text = normalized(token->text, parts_.normalizations, budget);
        if (const auto [same, is_new] = known.emplace(text, token); !is_new)
            throw std::invalid_argument(
                "the added tokens " + quoteExcerpt(toSingleLine(same->second->text)) + " and " +
                quoteExcerpt(toSingleLine(token->text)) +
                " become the same text when they are normalized; which one is meant is not known");
        if (!text.empty()) normalized_tokens.push_back({std::move(text), token});
    }
    raw_search_ = AddedTokenSearch(std::move(raw_tokens));
    normalized_search_ = AddedTokenSearch(std::move(normalized_tokens));
}

std::vector<std::int64_t> Tokenizer::encode(std::string_view text, bool add_special_tokens) const {
    EncodingBudget budget(text.size());
    return encode(text, budget, add_special_tokens);
}

std::vector<std::int64_t> Tokenizer::encode(std::string_view text, EncodingBudget& budget,
                                            bool add_special_tokens) const {
    if (const std::size_t wrong = findInvalidUtf8(text); wrong != std::string_view::npos)
        throw Error(ErrorKind::usage, "the text is not UTF-8: byte " + std::to_string(wrong) + " is wrong");
    std::vector<std::int64_t> ids;
    if (add_special_tokens) ids = parts_.prefix_ids;
    try {
        encodeText(text, budget, ids);
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::checkpoint, parts_.origin + ": " + error.what());
    }
    if (add_special_tokens) ids.insert(ids.end(), parts_.suffix_ids.begin(), parts_.suffix_ids.end());
    return ids;
}

void Tokenizer::encodeText(std::string_view text, EncodingBudget& budget,
                           std::vector<std::int64_t>& ids) const {
    raw_search_.forEachSegment(text, budget, [&](std::string_view segment, const AddedToken* token) {
        EncodingBudget::requireTokenCount(ids.size());
        if (token != nullptr)
            ids.push_back(token->id);
        else
            encodeNormalized(normalized(std::string(segment), parts_.normalizations, budget),
                             segment.data() == text.data(), budget, ids);
    });
    EncodingBudget::requireTokenCount(ids.size());
}

void Tokenizer::encodeNormalized(std::string_view text, bool is_first, EncodingBudget& budget,
                                 std::vector<std::int64_t>& ids) const {
    normalized_search_.forEachSegment(text, budget, [&](std::string_view segment, const AddedToken* token) {
        EncodingBudget::requireTokenCount(ids.size());
        if (token != nullptr)
            ids.push_back(token->id);
        else
            encodeWords(segment, is_first && segment.data() == text.data(), budget, ids);
    });
}

void Tokenizer::encodeWords(std::string_view text, bool is_first, EncodingBudget& budget,
                            std::vector<std::int64_t>& ids) const {
    std::string as_characters;
    forEachWord(text, parts_.splits, is_first, budget, [&](std::string_view word) {
        budget.spendOnWord(word.size());
        if (parts_.byte_level) {
            as_characters.clear();
            for (const char byte : word)
                as_characters += byteCharacters()[static_cast<unsigned char>(byte)];
            word = as_characters;
        }
        parts_.bpe.encode(word, ids);
        EncodingBudget::requireTokenCount(ids.size());
    });
}

std::string Tokenizer::textOf(std::int64_t id) const {
    if (const auto found = added_by_id_.find(id); found != added_by_id_.end()) return found->second->text;
    const std::string& piece = pieceOf(id);
    if (parts_.byte_level) return bytesOfCharacters(piece);
    if (parts_.bpe.byte_fallback)
        if (const auto byte = byteOfPiece(piece)) return {*byte};
    std::string text = piece;
    for (std::size_t at = text.find(parts_.blank); at != std::string::npos;
         at = text.find(parts_.blank, at + 1))
        text.replace(at, parts_.blank.size(), " ");
    return text;
}

std::string Tokenizer::decode(std::span<const std::int64_t> ids) const {
    std::string text;
    for (const std::int64_t id : ids)
        text += textOf(id);
    return text;
}

const std::string& Tokenizer::pieceOf(std::int64_t id) const {
    if (const auto found = added_by_id_.find(id); found != added_by_id_.end()) return found->second->text;
    if (id < 0 || id >= static_cast<std::int64_t>(parts_.bpe.pieces().size()))
        throw std::invalid_argument("the vocabulary has no token " + std::to_string(id));
    return parts_.bpe.pieces()[static_cast<std::size_t>(id)];
}

bool Tokenizer::isSpecial(std::int64_t id) const {
    const auto found = added_by_id_.find(id);
    return found != added_by_id_.end() && found->second->special;
}

}  // namespace roper
