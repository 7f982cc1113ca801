#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/tokenizers/keyed_hash.h"

namespace roper {

/// Byte pair encoding (Sennrich et al. 2016, arXiv 1508.07909): a word is cut into characters, and the two
/// neighbours whose merge comes first in the list become one, again and again until no merge applies.
class Bpe {
  public:
    /// Two neighbours and what they become, by id. Of two merges that apply, that of the lower rank comes
    /// first, and of equal ranks the one on the left.
    struct Merge {
        std::int32_t left, right, merged, rank;
    };

    /// @param pieces  what each id stands for, as the vocabulary writes it; empty for an id without a piece
    explicit Bpe(std::vector<std::string> pieces, const std::vector<Merge>& merges = {});

    /// In place of those that there are. Of a pair that stands there twice the last counts.
    void setMerges(const std::vector<Merge>& merges);

    Bpe(Bpe&&) = default;
    Bpe& operator=(Bpe&&) = default;

    /// A whole word that is a piece is that piece, whatever merges say ("ignore_merges").
    bool whole_words_first = false;
    /// A character that is no piece becomes its bytes, the pieces <0x00> … <0xFF>.
    bool bytes_as_pieces = false;
    /// What a character becomes that is no piece; without one such characters are left out.
    std::optional<std::int32_t> unknown = {};
    /// Neighbouring unknown characters become one.
    bool fuses_unknown = false;

    /// Appends the ids of a word. @param word  UTF-8
    void encode(std::string_view word, std::vector<std::int64_t>& ids) const;

    std::optional<std::int32_t> idOf(std::string_view piece) const;
    /// The merge of two pieces; nothing if the vocabulary lacks one of them, or what they become.
    std::optional<Merge> mergeOf(const std::string& left, const std::string& right, std::size_t rank) const;
    const std::vector<std::string>& pieces() const { return pieces_; }

  private:
    struct RankedMerge {
        std::int32_t rank, merged;
    };
    std::vector<std::int32_t> characters(std::string_view word) const;
    const RankedMerge* merge(std::int32_t left, std::int32_t right) const;

    std::vector<std::string> pieces_;
    std::unordered_map<std::string_view, std::int32_t, KeyedHash>
        ids_;  ///< views of pieces_, whose buffers do not move
    std::unordered_map<std::uint64_t, RankedMerge, KeyedHash> merges_;
    std::vector<std::int32_t> byte_pieces_;  ///< 256, −1 where the vocabulary lacks it
};

/// The longest piece, in bytes, that a vocabulary with scores may have: each of its cuts is looked up.
inline constexpr std::size_t kLongestScoredPiece = 256;
/// The most merges that it may have. That of Gemma, with 256,000 pieces, has about 600,000.
inline constexpr std::size_t kMostScoredMerges = 1U << 21U;

/// The merges of a vocabulary that has scores instead (SentencePiece): every way to put a piece together from
/// two others, ranked by the score of what they become, the highest first.
/// @param scores  one for each piece
/// @throws std::invalid_argument for a piece that is too long, and for too many merges
std::vector<Bpe::Merge> mergesOfScores(const Bpe& vocabulary, const std::vector<double>& scores);

/// Length in bytes of the UTF-8 character that begins with this byte; 1 for what begins none.
std::size_t characterLength(char first);

}  // namespace roper
