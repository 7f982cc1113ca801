#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizers/bpe.h"
#include "core/tokenizers/pattern.h"

namespace roper {

/// A change of the text before it is cut.
struct Normalization {
    enum class Kind { nfc, nfd, nfkc, nfkd, prepend, replace };
    Kind kind = Kind::nfc;
    std::optional<Pattern> pattern = {};  ///< of `replace`
    std::string text = {};                ///< that is put before, or in place of what matches
};

/// One way to cut a text into words, as Hugging Face's pre-tokenizers do; merges never reach over a cut.
struct Split {
    enum class Kind { pattern, metaspace };
    /// What becomes of a match of the pattern.
    enum class Match { isolated, removed, contiguous, with_previous, with_next };
    enum class Prefix { never, first, always };

    Kind kind = Kind::pattern;
    std::optional<Pattern> pattern = {};  ///< of `metaspace`: `space`
    Match match = Match::isolated;
    bool inverted = false;          ///< what does not match counts as a match
    std::string space = "▁";        ///< of `metaspace`: what blanks become; a word begins with each
    Prefix prefix = Prefix::never;  ///< of `metaspace`: which texts get one put before them
    bool cuts = true;               ///< of `metaspace`: whether it cuts at them
};

/// A token that is found in the text as it stands, before anything else.
struct AddedToken {
    std::string text;
    std::int64_t id = 0;
    bool special = false;      ///< a mark such as <|im_end|> rather than text
    bool normalized = false;   ///< looked for after the text was normalized
    bool takes_left = false;   ///< with the blanks before it
    bool takes_right = false;  ///< with the blanks after it
    bool whole_word = false;   ///< only where no letter stands beside it
};

/// Everything that a tokenizer does, in order.
struct TokenizerParts {
    explicit TokenizerParts(Bpe with) : bpe(std::move(with)) {}

    std::vector<Normalization> normalizations = {};
    std::vector<Split> splits = {};
    bool byte_level = false;   ///< pieces are written as GPT-2 does: every byte as a printable character
    bool blank_first = false;  ///< with `byte_level`: a text that begins with no space gets one
    std::string blank = "▁";   ///< without `byte_level`: how pieces write a blank
    Bpe bpe;
    std::vector<AddedToken> added = {};
    std::vector<std::int64_t> before = {}, after = {};  ///< special tokens around every text
    std::string origin;                                 ///< the file, for messages
};

/// Text to ids as a published model's own tokenizer does, and ids to text.
class Tokenizer {
  public:
    /// @throws std::invalid_argument for tokens without a place in the vocabulary
    explicit Tokenizer(TokenizerParts parts);

    /// @param with_special  with the special tokens that the model expects around a text
    /// @throws Error (usage) if the text is no UTF-8; std::invalid_argument as `Pattern::forEachMatch`
    std::vector<std::int64_t> encode(std::string_view text, bool with_special = true) const;

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
    struct Segment;
    std::vector<Segment> cutAtAdded(std::string_view text, const std::vector<const AddedToken*>& among) const;
    void encodeSegment(std::string text, bool is_first, std::vector<std::int64_t>& ids) const;
    void encodeWords(const std::string& text, bool is_first, std::vector<std::int64_t>& ids) const;
    std::string normalized(std::string text) const;

    TokenizerParts parts_;
    std::vector<const AddedToken*> as_it_stands_, after_normalizing_;  ///< the longest first
    std::map<std::int64_t, const AddedToken*> added_by_id_;
    std::int64_t size_ = 0;
};

/// @throws std::invalid_argument for a token that is not UTF-8 or longer than any is
void requireToken(const std::string& text);

/// The characters that GPT-2's vocabulary writes bytes as, in UTF-8: 'A' is itself, a blank "Ġ".
const std::vector<std::string>& byteCharacters();

/// How GPT-2 cuts a text into words.
extern const char* const kGpt2Pattern;

}  // namespace roper
