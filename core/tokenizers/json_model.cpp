#include <charconv>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "core/base/text.h"
#include "core/tokenizers/bpe.h"
#include "core/tokenizers/json_members.h"
#include "core/tokenizers/json_parts.h"
#include "core/tokenizers/unigram.h"
#include "core/tokenizers/word_models.h"

namespace roper {
namespace {

using Json = nlohmann::json;

/// Some vocabularies start after the ids of the added tokens, or leave gaps.
constexpr std::int64_t kMaxIdsWithoutToken = 1 << 16;

Pieces readPieces(const Json& vocabulary) {
    if (!vocabulary.is_object())
        throw std::invalid_argument("model.vocab is not an object of tokens and their ids");
    std::vector<std::string> pieces;
    std::vector<bool> is_taken;
    for (const auto& [piece, id_json] : vocabulary.items()) {
        const std::int64_t id = requireInteger(id_json);
        if (id < 0 || id > kMaxTokenId || id >= std::ssize(vocabulary) + kMaxIdsWithoutToken)
            throw std::invalid_argument("the token " + quoteExcerpt(piece) + " has the id " +
                                        std::to_string(id) + " in a vocabulary of " +
                                        std::to_string(vocabulary.size()));
        requireToken(piece);
        if (static_cast<std::size_t>(id) >= pieces.size()) {
            pieces.resize(static_cast<std::size_t>(id) + 1);
            is_taken.resize(pieces.size());
        }
        if (is_taken[static_cast<std::size_t>(id)])
            throw std::invalid_argument("two tokens have the id " + std::to_string(id));
        is_taken[static_cast<std::size_t>(id)] = true;
        pieces[static_cast<std::size_t>(id)] = piece;
    }
    return Pieces(std::move(pieces));
}

std::vector<Bpe::Merge> readMerges(const Json& merges, const Bpe& bpe) {
    if (!merges.is_array()) throw std::invalid_argument("model.merges is not a list");
    std::vector<Bpe::Merge> read;
    for (const Json& merge : merges) {
        std::string left, right;
        if (merge.is_array() && merge.size() == 2) {
            left = merge[0].get<std::string>();
            right = merge[1].get<std::string>();
        } else {
            const auto& both = merge.get_ref<const std::string&>();
            const std::size_t blank = both.find(' ');
            if (blank == std::string::npos)
                throw std::invalid_argument("the merge " + quoteExcerpt(both) + " has no space");
            left = both.substr(0, blank);
            right = both.substr(blank + 1);
        }
        const auto found = bpe.mergeOf(left, right, read.size());
        if (!found)
            throw std::invalid_argument("the merge of " + quoteExcerpt(left) + " and " + quoteExcerpt(right) +
                                        " needs a token that the vocabulary lacks");
        read.push_back(*found);
    }
    return read;
}

/// A piece that is put before or behind others.
std::string affixIn(const Json& model, const char* key, std::string otherwise) {
    std::string affix = jsonMemberOr(model, key, std::move(otherwise));
    requireToken(affix);
    return affix;
}

std::unique_ptr<const TokenModel> readBpe(const Json& model) {
    requireKnown(model, "the model",
                 {"type", "vocab", "merges", "dropout", "unk_token", "continuing_subword_prefix",
                  "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges", "cache_capacity"});
    if (jsonMemberOr(model, "dropout", 0.0) != 0) throwUnsupported("member of the model", "dropout");
    auto bpe = std::make_unique<Bpe>(readPieces(jsonMember(model, "vocab")));
    bpe->continuing_prefix = affixIn(model, "continuing_subword_prefix", "");
    bpe->word_suffix = affixIn(model, "end_of_word_suffix", "");
    bpe->setMerges(readMerges(jsonMember(model, "merges"), *bpe));
    bpe->ignore_merges = jsonMemberOr(model, "ignore_merges", false);
    bpe->byte_fallback = jsonMemberOr(model, "byte_fallback", false);
    bpe->fuse_unknown = jsonMemberOr(model, "fuse_unk", false);
    if (const Json& unknown = jsonMember(model, "unk_token"); !unknown.is_null()) {
        bpe->unknown = bpe->pieces().idOf(unknown.get<std::string>());
        if (!bpe->unknown) throw std::invalid_argument("the vocabulary lacks unk_token");
    }
    return bpe;
}

UnknownToken unknownIn(const Json& model, const Pieces& pieces) {
    const auto text = jsonMember(model, "unk_token").get<std::string>();
    return {text, pieces.idOf(text)};
}

std::unique_ptr<const TokenModel> readWordPiece(const Json& model) {
    requireKnown(model, "the model",
                 {"type", "vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"});
    Pieces pieces = readPieces(jsonMember(model, "vocab"));
    UnknownToken unknown = unknownIn(model, pieces);
    auto word_piece = std::make_unique<WordPiece>(std::move(pieces), std::move(unknown));
    word_piece->continuing_prefix = affixIn(model, "continuing_subword_prefix", "##");
    word_piece->most_characters = countIn(model, "max_input_chars_per_word", 100, 0);
    return word_piece;
}

std::unique_ptr<const TokenModel> readWordLevel(const Json& model) {
    requireKnown(model, "the model", {"type", "vocab", "unk_token"});
    Pieces pieces = readPieces(jsonMember(model, "vocab"));
    UnknownToken unknown = unknownIn(model, pieces);
    return std::make_unique<WordLevel>(std::move(pieces), std::move(unknown));
}

/// The number that tokenizers (0.23.3) reads in its place, which decides between sums that are equal without
/// rounding: the decimal digits as one integer, divided by a power of ten, so that it is rounded twice.
double asOtherReader(double score) {
    char shortest[32];
    const auto end = std::to_chars(shortest, std::end(shortest), score, std::chars_format::scientific).ptr;
    const std::string_view text(shortest, static_cast<std::size_t>(end - shortest));
    const std::size_t exponent_at = text.find('e');
    if (exponent_at == std::string_view::npos) return score;
    std::uint64_t integer = 0;
    int exponent = 0;
    for (const char c : text.substr(0, exponent_at))
        if (c >= '0' && c <= '9') integer = 10 * integer + static_cast<std::uint64_t>(c - '0');
    const auto digits = static_cast<double>(integer);
    const std::size_t dot = text.find('.');
    const char* const power = text.data() + exponent_at + (text[exponent_at + 1] == '+' ? 2 : 1);
    std::from_chars(power, end, exponent);
    if (dot != std::string_view::npos) exponent -= static_cast<int>(exponent_at - dot - 1);
    constexpr int kLargestExactPower = 22;
    if (exponent < -kLargestExactPower || exponent > kLargestExactPower) return score;
    const double scaled =
        exponent < 0 ? digits / std::pow(10.0, -exponent) : digits * std::pow(10.0, exponent);
    return std::signbit(score) ? -scaled : scaled;
}

std::unique_ptr<const TokenModel> readUnigram(const Json& model) {
    requireKnown(model, "the model", {"type", "vocab", "unk_id", "byte_fallback"});
    const Json& vocabulary = jsonMember(model, "vocab");
    if (!vocabulary.is_array() || static_cast<std::int64_t>(vocabulary.size()) > kMaxTokenId)
        throw std::invalid_argument("model.vocab is not a list of tokens and their scores");
    std::vector<std::string> texts;
    std::vector<double> scores;
    for (const Json& entry : vocabulary) {
        texts.push_back(entry.at(0).get<std::string>());
        scores.push_back(asOtherReader(entry.at(1).get<double>()));
        requireToken(texts.back());
    }
    std::optional<std::int32_t> unknown;
    if (!jsonMember(model, "unk_id").is_null()) {
        const std::uint64_t id = countIn(model, "unk_id", 0, 0);
        if (id >= texts.size()) throw std::invalid_argument("the vocabulary has no token unk_id");
        unknown = static_cast<std::int32_t>(id);
    }
    auto unigram = std::make_unique<Unigram>(Pieces(std::move(texts)), std::move(scores), unknown);
    unigram->byte_fallback = jsonMemberOr(model, "byte_fallback", false);
    return unigram;
}

}  // namespace

std::unique_ptr<const TokenModel> readTokenModel(const Json& model) {
    const std::string type = jsonMemberOr<std::string>(model, "type", "BPE");
    if (type == "BPE") return readBpe(model);
    if (type == "WordPiece") return readWordPiece(model);
    if (type == "WordLevel") return readWordLevel(model);
    if (type == "Unigram") return readUnigram(model);
    throwUnsupported("model", type);
}

}  // namespace roper
