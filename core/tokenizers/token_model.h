#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tokenizers/encoding_budget.h"
#include "core/tokenizers/pieces.h"

namespace roper {

/// The stage of a tokenizer that turns a word into ids.
class TokenModel {
  public:
    explicit TokenModel(Pieces pieces) : pieces_(std::move(pieces)) {}
    TokenModel(TokenModel&&) = default;
    TokenModel& operator=(TokenModel&&) = default;
    virtual ~TokenModel() = default;

    /// Appends the ids of a word. @param word  UTF-8, not empty
    /// @throws std::invalid_argument if the budget is exceeded, and for a word without tokens if the
    /// vocabulary has none for unknown words
    virtual void encode(std::string_view word, EncodingBudget& budget,
                        std::vector<std::int64_t>& ids) const = 0;

    const Pieces& pieces() const { return pieces_; }

    /// Whether text without a piece is encoded as its UTF-8 bytes, the pieces <0x00> … <0xFF>
    /// ("byte_fallback"). Only byte pair encoding and the unigram model do so.
    bool byte_fallback = false;

  private:
    Pieces pieces_;
};

}  // namespace roper
