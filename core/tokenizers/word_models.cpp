#include "core/tokenizers/word_models.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/text.h"

namespace roper {
namespace {

/// A look-up takes as long as this many steps, and another one for every so many bytes.
constexpr std::uint64_t kStepsOfLookUp = 4, kBytesHashedInStep = 8;

bool continuesCharacter(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80;
}

}  // namespace

std::int32_t UnknownToken::require() const {
    if (id) return *id;
    throw std::invalid_argument("the text has a word without tokens, and the vocabulary lacks " +
                                quoteExcerpt(text) + ", the token of unknown words");
}

WordPiece::WordPiece(Pieces pieces, UnknownToken unknown)
    : TokenModel(std::move(pieces)), unknown_(std::move(unknown)) {
    for (const std::string& piece : this->pieces().texts())
        longest_ = std::max(longest_, piece.size());
}

/// @param end  receives the end of the piece in the word
std::optional<std::int32_t> WordPiece::longestPiece(std::string_view word, std::size_t begin,
                                                    std::size_t& end, EncodingBudget& budget) const {
    std::string piece = begin > 0 ? continuing_prefix : std::string();
    const std::size_t prefix = piece.size();
    piece.append(word.substr(begin, longest_));
    for (std::size_t length = piece.size(); length > prefix; --length) {
        const std::size_t at = begin + length - prefix;
        if (at < word.size() && continuesCharacter(word[at])) continue;
        budget.require(kStepsOfLookUp + length / kBytesHashedInStep);
        if (const auto id = pieces().idOf(std::string_view(piece).substr(0, length))) {
            end = at;
            return id;
        }
    }
    return std::nullopt;
}

void WordPiece::encode(std::string_view word, EncodingBudget& budget, std::vector<std::int64_t>& ids) const {
    const auto characters =
        word.size() - static_cast<std::size_t>(std::count_if(word.begin(), word.end(), &continuesCharacter));
    const std::size_t known = ids.size();
    const auto unknown = [&] {
        ids.resize(known);
        ids.push_back(unknown_.require());
    };
    if (characters > most_characters) return unknown();
    for (std::size_t begin = 0, end = 0; begin < word.size(); begin = end) {
        const auto id = longestPiece(word, begin, end, budget);
        if (!id) return unknown();
        ids.push_back(*id);
    }
}

void WordLevel::encode(std::string_view word, EncodingBudget&, std::vector<std::int64_t>& ids) const {
    const auto id = pieces().idOf(word);
    ids.push_back(id ? *id : unknown_.require());
}

}  // namespace roper
