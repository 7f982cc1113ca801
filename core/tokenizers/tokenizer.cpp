#include "core/tokenizers/tokenizer.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// Limits on decoding a piece or a text; real decoders take a few steps for each byte.
constexpr std::uint64_t kMaxStepsToDecode = 1'000'000, kMaxStepsToDecodeByte = 1000;

void requirePartLimits(const TokenizerParts& parts) {
    const auto require = [](std::size_t count, std::size_t max_count, const char* what) {
        if (count > max_count)
            throw std::invalid_argument("it has " + std::to_string(count) + " " + what + "; at most " +
                                        std::to_string(max_count) + " are allowed");
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
    require(parts.decodings.size(), Tokenizer::kMaxDecodings, "decoders");
    for (const Decoding& step : parts.decodings)
        require(step.text.size(), Tokenizer::kMaxContentBytes, "bytes that a decoder writes");
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

Tokenizer::Tokenizer(TokenizerParts parts) : parts_(std::move(parts)) {
    requirePartLimits(parts_);
    size_ = static_cast<std::int64_t>(parts_.model->pieces().texts().size());
    for (const AddedToken& token : parts_.added_tokens) {
        requireToken(token.text);
        requireTokenId(token);
        if (token.text.empty()) continue;
        added_by_id_[token.id] = &token;  // of duplicate texts, the last counts
        size_ = std::max(size_, token.id + 1);
    }
    prepareAddedTokens();
    depends_on_beginning_ = std::any_of(parts_.splits.begin(), parts_.splits.end(), [](const Split& split) {
        return split.prefix == Split::Prefix::first;
    });
    for (const auto* const ids : {&parts_.prefix_ids, &parts_.suffix_ids})
        for (const std::int64_t id : *ids)
            if (!added_by_id_.contains(id) && (id < 0 || id >= std::ssize(parts_.model->pieces().texts())))
                throw std::invalid_argument("the vocabulary has no token " + std::to_string(id) +
                                            ", which the tokenizer adds to every text");
}

/// Prepares both searches. In Hugging Face's tokenizers (0.23.3) it is undefined which of several added
/// tokens wins if they normalize to the same text, and one without any text left is found between all
/// characters.
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
                " become the same text when normalized, so it is not clear which one is meant");
        if (text.empty())
            throw std::invalid_argument("the added token " + quoteExcerpt(toSingleLine(token->text)) +
                                        " becomes empty when normalized, so it is not clear what it matches");
        normalized_added_[id] = text;
        normalized_tokens.push_back({std::move(text), token});
    }
    raw_search_ = AddedTokenSearch(std::move(raw_tokens));
    normalized_search_ = AddedTokenSearch(std::move(normalized_tokens));
}

/// The result of `call`; its errors name the tokenizer's file.
template <class Call>
auto Tokenizer::withFileInErrors(const Call& call) const {
    try {
        return call();
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::checkpoint, parts_.origin + ": " + error.what());
    }
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
    withFileInErrors([&] { encodeText(text, budget, ids); });
    if (add_special_tokens) ids.insert(ids.end(), parts_.suffix_ids.begin(), parts_.suffix_ids.end());
    return ids;
}

void Tokenizer::encodeText(std::string_view text, EncodingBudget& budget,
                           std::vector<std::int64_t>& ids) const {
    raw_search_.forEachSegment(text, budget, [&](std::string_view segment, const AddedToken* token) {
        EncodingBudget::requireTokenCount(ids.size());
        if (token != nullptr) {
            ids.push_back(token->id);
            return;
        }
        std::size_t beginning = 0;
        const std::string made =
            normalized(std::string(segment), parts_.normalizations, budget,
                       depends_on_beginning_ && segment.data() == text.data() ? &beginning : nullptr);
        encodeNormalized(made, beginning, budget, ids);
    });
    EncodingBudget::requireTokenCount(ids.size());
}

void Tokenizer::encodeNormalized(std::string_view text, std::size_t beginning, EncodingBudget& budget,
                                 std::vector<std::int64_t>& ids) const {
    normalized_search_.forEachSegment(text, budget, [&](std::string_view segment, const AddedToken* token) {
        EncodingBudget::requireTokenCount(ids.size());
        const auto place = static_cast<std::size_t>(segment.data() - text.data());
        if (token != nullptr)
            ids.push_back(token->id);
        else
            encodeWords(segment, std::min(beginning - std::min(beginning, place), segment.size()), budget,
                        ids);
    });
}

void Tokenizer::encodeWords(std::string_view text, std::size_t beginning, EncodingBudget& budget,
                            std::vector<std::int64_t>& ids) const {
    forEachWord(text, parts_.splits, beginning, budget, [&](std::string_view word) {
        budget.spendOnWord(word.size());
        if (!word.empty()) parts_.model->encode(word, budget, ids);
        EncodingBudget::requireTokenCount(ids.size());
    });
}

std::string Tokenizer::textOf(std::int64_t id) const {
    if (const auto found = added_by_id_.find(id); found != added_by_id_.end()) return found->second->text;
    const std::string& piece = pieceOf(id);
    EncodingBudget budget(piece.size(), kMaxStepsToDecode);
    return withFileInErrors([&] { return decodedWithin(piece, parts_.decodings, budget); });
}

std::string Tokenizer::decode(std::span<const std::int64_t> ids) const {
    std::vector<std::string> pieces;
    std::size_t bytes = 0;
    for (const std::int64_t id : ids) {
        const auto added_tokens = normalized_added_.find(id);
        pieces.push_back(added_tokens != normalized_added_.end() ? added_tokens->second : pieceOf(id));
        bytes += pieces.back().size();
    }
    EncodingBudget budget(bytes, kMaxStepsToDecode + kMaxStepsToDecodeByte * bytes);
    return withFileInErrors([&] { return decoded(std::move(pieces), parts_.decodings, budget); });
}

const std::string& Tokenizer::pieceOf(std::int64_t id) const {
    if (const auto found = added_by_id_.find(id); found != added_by_id_.end()) return found->second->text;
    if (id < 0 || id >= static_cast<std::int64_t>(parts_.model->pieces().texts().size()))
        throw std::invalid_argument("the vocabulary has no token " + std::to_string(id));
    return parts_.model->pieces().texts()[static_cast<std::size_t>(id)];
}

bool Tokenizer::isSpecial(std::int64_t id) const {
    const auto found = added_by_id_.find(id);
    return found != added_by_id_.end() && found->second->special;
}

}  // namespace roper
