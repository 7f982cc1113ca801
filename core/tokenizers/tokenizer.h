#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizers/added_tokens.h"
#include "core/tokenizers/bpe.h"
#include "core/tokenizers/encoding_budget.h"
#include "core/tokenizers/normalization.h"
#include "core/tokenizers/splitting.h"

namespace roper {

/// Everything that a tokenizer does, in order.
struct TokenizerParts {
    explicit TokenizerParts(Bpe with) : bpe(std::move(with)) {}

    std::vector<Normalization> normalizations = {};
    std::vector<Split> splits = {};
    bool byte_level = false;  ///< pieces are written as GPT-2 does: every byte as a printable character
    std::string blank = "▁";  ///< without `byte_level`: how pieces write a blank
    Bpe bpe;
    std::vector<AddedToken> added = {};
    std::vector<std::int64_t> before = {}, after = {};  ///< special tokens around every text
    std::string origin;                                 ///< the file, for messages
};

/// Text to ids as a published model's own tokenizer does, and ids to text.
class Tokenizer {
  public:
    /// Special tokens around a text, bytes of what a normalizer writes, normalizers, and splits: no published
    /// tokenizer comes near any of these.
    static constexpr std::size_t kMostMarks = 256, kLongestContent = 1024, kMostNormalizations = 32,
                                 kMostSplits = 32;

    /// @throws std::invalid_argument for tokens without a place in the vocabulary, and too many parts
    explicit Tokenizer(TokenizerParts parts);

    /// @param with_special  with the special tokens that the model expects around a text
    /// @throws Error (usage) if the text is no UTF-8, or too long (EncodingBudget); Error (checkpoint) naming
    /// the tokenizer's file if that asks for more than EncodingBudget allows
    std::vector<std::int64_t> encode(std::string_view text, bool with_special = true) const;
    /// The same within this budget, which is made for the text.
    std::vector<std::int64_t> encode(std::string_view text, EncodingBudget& budget,
                                     bool with_special = true) const;

    /// The text of a token: bytes that may be a part of a character. @throws std::invalid_argument for no
    /// such id
    std::string textOf(std::int64_t id) const;
    /// The texts of several in a row. A blank that the tokenizer put first stays.
    std::string decode(std::span<const std::int64_t> ids) const;

    /// The token as the vocabulary writes it: "Ġthe".
    const std::string& pieceOf(std::int64_t id) const;
    bool isSpecial(std::int64_t id) const;

    /// One more than the largest id.
    std::int64_t size() const { return size_; }
    const TokenizerParts& parts() const { return parts_; }

  private:
    void prepareAddedTokens();
    void encodeText(std::string_view text, EncodingBudget& budget, std::vector<std::int64_t>& ids) const;
    void encodeNormalized(std::string_view text, bool is_first, EncodingBudget& budget,
                          std::vector<std::int64_t>& ids) const;
    void encodeWords(std::string_view text, bool is_first, EncodingBudget& budget,
                     std::vector<std::int64_t>& ids) const;

    TokenizerParts parts_;
    AddedTokenSearch as_it_stands_, after_normalizing_;
    std::map<std::int64_t, const AddedToken*> added_by_id_;
    std::int64_t size_ = 0;
};

/// The largest id that a token may have.
inline constexpr std::int64_t kLargestTokenId = (1 << 22) - 1;

/// @throws std::invalid_argument for a token that is not UTF-8 or longer than any is
void requireToken(const std::string& text);

/// @throws std::invalid_argument for an id that no token can have
void requireTokenId(const AddedToken& token);

/// The characters that GPT-2's vocabulary writes bytes as, in UTF-8: 'A' is itself, a blank "Ġ".
const std::vector<std::string>& byteCharacters();

/// How GPT-2 cuts a text into words.
extern const char* const kGpt2Pattern;

}  // namespace roper
