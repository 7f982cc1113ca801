#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/tokenizers/token_model.h"

namespace roper {

/// Byte pair encoding (Sennrich et al. 2016, arXiv 1508.07909): a word is split into characters; then the
/// neighboring pair whose merge has the lowest rank is merged, until no merge applies.
class Bpe : public TokenModel {
  public:
    /// Two neighbors and the result of merging them, as ids. The merge of the lowest rank is applied first,
    /// and among equal ranks the leftmost.
    struct Merge {
        std::int32_t left, right, merged, rank;
    };

    explicit Bpe(Pieces pieces) : TokenModel(std::move(pieces)) {}

    /// Replaces all merges. If a pair occurs twice, the last entry counts.
    void setMerges(const std::vector<Merge>& merges);

    /// A word that is itself a piece is not merged ("ignore_merges").
    bool ignore_merges = false;
    /// The id for characters without a piece; if unset, such characters are dropped.
    std::optional<std::int32_t> unknown = {};
    /// Consecutive unknown characters share one id ("fuse_unk").
    bool fuse_unknown = false;
    /// How the pieces of all characters of a word but the first begin ("continuing_subword_prefix").
    std::string continuing_prefix = {};
    /// How the piece of a word's last character ends ("end_of_word_suffix").
    std::string word_suffix = {};

    void encode(std::string_view word, EncodingBudget& budget, std::vector<std::int64_t>& ids) const override;

    /// The merge of two pieces, with the right one's continuing prefix left out of the result; nothing if
    /// they or their result are missing from the vocabulary.
    std::optional<Merge> mergeOf(const std::string& left, const std::string& right, std::size_t rank) const;

  private:
    struct RankedMerge {
        std::int32_t rank, merged;
    };
    std::vector<std::int32_t> characters(std::string_view word) const;
    const RankedMerge* merge(std::int32_t left, std::int32_t right) const;

    std::unordered_map<std::uint64_t, RankedMerge, KeyedHash> merges_;
};

/// Longest piece, in bytes, of a vocabulary with scores: each of its splits into two parts is looked up.
inline constexpr std::size_t kMaxScoredPieceBytes = 256;
/// Most merges of such a vocabulary. Gemma's, with 256,000 pieces, has about 600,000.
inline constexpr std::size_t kMaxScoredMerges = 1U << 21U;

/// The merges of a vocabulary with scores (SentencePiece), which lists none: every split of a piece into two
/// other pieces, ranked by the score of the whole, highest first.
/// @param scores  one for each piece
/// @throws std::invalid_argument for a piece that is too long, and for too many merges
std::vector<Bpe::Merge> mergesFromScores(const Pieces& vocabulary, const std::vector<double>& scores);

}  // namespace roper
