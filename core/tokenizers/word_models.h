#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizers/token_model.h"

namespace roper {

/// The token that stands for a word without tokens.
struct UnknownToken {
    std::string text;
    std::optional<std::int32_t> id = {};  ///< missing if the vocabulary lacks it

    /// @throws std::invalid_argument if the vocabulary lacks it
    std::int32_t require() const;
};

/// WordPiece (Schuster and Nakajima 2012): repeatedly takes the longest piece with which the rest of the word
/// begins; pieces that continue a word have a prefix. A word with a rest that begins with no piece is
/// unknown as a whole.
class WordPiece : public TokenModel {
  public:
    WordPiece(Pieces pieces, UnknownToken unknown);

    std::string continuing_prefix = "##";
    /// Words of more characters are unknown.
    std::uint64_t most_characters = 100;

    void encode(std::string_view word, EncodingBudget& budget, std::vector<std::int64_t>& ids) const override;

  private:
    std::optional<std::int32_t> longestPiece(std::string_view word, std::size_t begin, std::size_t& end,
                                             EncodingBudget& budget) const;

    UnknownToken unknown_;
    std::size_t longest_ = 0;  ///< piece, bytes
};

/// Each word is one token.
class WordLevel : public TokenModel {
  public:
    WordLevel(Pieces pieces, UnknownToken unknown)
        : TokenModel(std::move(pieces)), unknown_(std::move(unknown)) {}

    void encode(std::string_view word, EncodingBudget& budget, std::vector<std::int64_t>& ids) const override;

  private:
    UnknownToken unknown_;
};

}  // namespace roper
