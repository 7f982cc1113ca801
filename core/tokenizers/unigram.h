#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/tokenizers/prefix_search.h"
#include "core/tokenizers/token_model.h"

namespace roper {

/// The unigram language model (Kudo 2018, arXiv 1804.10959): of all segmentations of a word into pieces, the
/// one with the largest sum of scores. A character that is not itself a piece may be encoded as unknown,
/// scored 10 below the least likely piece. Of equal sums, the one whose last piece begins first is chosen, as
/// in Hugging Face's tokenizers (0.23.3).
class Unigram : public TokenModel {
  public:
    /// @param scores     of each id, finite
    /// @param unknown    id of unknown characters; consecutive ones share one token
    /// @param matchable  whether each id may be produced from text (false for control tokens); empty: all
    Unigram(Pieces pieces, std::vector<double> scores, std::optional<std::int32_t> unknown,
            const std::vector<bool>& matchable = {});

    /// Score of an unknown character; kUnknownPenalty below the lowest score unless set.
    double unknown_score;

    void encode(std::string_view word, EncodingBudget& budget, std::vector<std::int64_t>& ids) const override;

    /// Difference between the score of unknown characters and the lowest of all pieces.
    static constexpr double kUnknownPenalty = 10;

  private:
    /// The last piece of the best segmentation of a word up to a given byte.
    struct Best {
        double score = 0;
        std::int32_t begin = -1;  ///< −1: none has been found yet
        std::int32_t id = 0;
    };
    std::vector<Best> bestSegmentations(std::string_view word, EncodingBudget& budget) const;
    std::int32_t requireUnknown() const;
    void appendUnknown(std::string_view text, std::vector<std::int64_t>& ids) const;

    std::vector<double> scores_;
    std::optional<std::int32_t> unknown_;
    std::vector<std::int32_t> id_of_search_entry_;
    PrefixSearch search_;
};

}  // namespace roper
