#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizers/added_tokens.h"
#include "core/tokenizers/decoding.h"
#include "core/tokenizers/encoding_budget.h"
#include "core/tokenizers/normalization.h"
#include "core/tokenizers/splitting.h"
#include "core/tokenizers/token_model.h"

namespace roper {

/// The parts of a tokenizer. Encoding applies the first three in this order.
struct TokenizerParts {
    std::vector<Normalization> normalizations = {};
    std::vector<Split> splits = {};
    std::unique_ptr<const TokenModel> model = {};  ///< never null
    std::vector<Decoding> decodings = {};
    std::vector<AddedToken> added_tokens = {};
    std::vector<std::int64_t> prefix_ids = {},
                              suffix_ids = {};  ///< special tokens before and after every text
    std::optional<std::int64_t> mask_id = {};   ///< the token that stands for a masked one
    std::string origin;                         ///< file name, for messages
};

/// Encodes text to ids exactly as a published model's own tokenizer does, and decodes ids to text.
class Tokenizer {
  public:
    /// Limits on special tokens around a text, bytes written by a normalizer, and the numbers of normalizers,
    /// splits and decoders; no published tokenizer comes near any of them.
    static constexpr std::size_t kMaxSpecialTokens = 256, kMaxContentBytes = 1024, kMaxNormalizations = 32,
                                 kMaxSplits = 32, kMaxDecodings = 32;

    /// @throws std::invalid_argument for tokens outside the vocabulary and for too many parts
    explicit Tokenizer(TokenizerParts parts);

    /// @param add_special_tokens  adds the special tokens that the model expects around a text
    /// @throws Error (usage) if the text is not UTF-8 or too long (EncodingBudget); Error (checkpoint) naming
    /// the tokenizer's file if its rules exceed the budget
    std::vector<std::int64_t> encode(std::string_view text, bool add_special_tokens = true) const;
    /// The same within a budget made for this text.
    std::vector<std::int64_t> encode(std::string_view text, EncodingBudget& budget,
                                     bool add_special_tokens = true) const;

    /// The bytes that a token adds within a text, possibly an incomplete UTF-8 character.
    /// @throws std::invalid_argument for an unknown id; Error (checkpoint) if a decoder takes too long
    std::string textOf(std::int64_t id) const;
    /// The text of several tokens, as Hugging Face's tokenizers give it with special tokens. Bytes that are
    /// not UTF-8 become U+FFFD. @throws like `textOf`
    std::string decode(std::span<const std::int64_t> ids) const;

    /// The token as written in the vocabulary, for example "Ġthe".
    const std::string& pieceOf(std::int64_t id) const;
    bool isSpecial(std::int64_t id) const;

    /// The largest id plus one.
    std::int64_t size() const { return size_; }
    const TokenizerParts& parts() const { return parts_; }

  private:
    template <class Call>
    auto withFileInErrors(const Call& call) const;
    void prepareAddedTokens();
    void encodeText(std::string_view text, EncodingBudget& budget, std::vector<std::int64_t>& ids) const;
    void encodeNormalized(std::string_view text, std::size_t beginning, EncodingBudget& budget,
                          std::vector<std::int64_t>& ids) const;
    void encodeWords(std::string_view text, std::size_t beginning, EncodingBudget& budget,
                     std::vector<std::int64_t>& ids) const;

    TokenizerParts parts_;
    AddedTokenSearch raw_search_, normalized_search_;
    std::map<std::int64_t, const AddedToken*> added_by_id_;
    /// Texts of added tokens that are searched for in normalized text.
    std::map<std::int64_t, std::string> normalized_added_;
    std::int64_t size_ = 0;
    bool depends_on_beginning_ = false;  ///< a rule applies only to the beginning of a text
};

/// Largest id of a token.
inline constexpr std::int64_t kMaxTokenId = (1 << 22) - 1;

/// @throws std::invalid_argument for a token that is not UTF-8 or is too long
void requireToken(const std::string& text);

/// @throws std::invalid_argument for an id out of range
void requireTokenId(const AddedToken& token);

/// GPT-2's pattern for splitting text into words.
extern const char* const kGpt2Pattern;

}  // namespace roper
