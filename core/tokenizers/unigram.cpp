#include "core/tokenizers/unigram.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace roper {

Unigram::Unigram(Pieces pieces, std::vector<double> scores, std::optional<std::int32_t> unknown,
                 const std::vector<bool>& matchable)
    : TokenModel(std::move(pieces)),
      unknown_score(scores.empty() ? 0 : *std::min_element(scores.begin(), scores.end()) - kUnknownPenalty),
      scores_(std::move(scores)),
      unknown_(unknown) {
    std::vector<std::string_view> texts;
    for (std::size_t id = scores_.size(); id-- > 0;) {  // of equal texts, the last counts
        const std::string& text = this->pieces().texts()[id];
        if (text.empty() || (!matchable.empty() && !matchable[id])) continue;
        texts.push_back(text);
        id_of_search_entry_.push_back(static_cast<std::int32_t>(id));
    }
    search_ = PrefixSearch(texts);
}

std::int32_t Unigram::requireUnknown() const {
    if (unknown_) return *unknown_;
    throw std::invalid_argument(
        "the text has a character without a token, and the tokenizer has no token "
        "for unknown characters");
}

/// The best way to cut the word up to each of its bytes, and behind the last.
std::vector<Unigram::Best> Unigram::bestSegmentations(std::string_view word, EncodingBudget& budget) const {
    std::vector<Best> best(word.size() + 1);
    for (std::size_t begin = 0; begin < word.size();) {
        const std::size_t next = std::min(begin + characterLength(word[begin]), word.size());
        const double before = best[begin].score;
        const auto offer = [&](std::size_t end, double score, std::int32_t id) {
            if (best[end].begin < 0 || before + score > best[end].score)
                best[end] = {before + score, static_cast<std::int32_t>(begin), id};
        };
        bool is_piece = false;
        search_.forEachAt(word, begin, budget, [&](std::size_t entry, std::size_t length) {
            const std::int32_t id = id_of_search_entry_[entry];
            offer(begin + length, scores_[static_cast<std::size_t>(id)], id);
            is_piece = is_piece || begin + length == next;
        });
        if (!is_piece) offer(next, unknown_score, requireUnknown());
        begin = next;
    }
    return best;
}

/// Unknown characters in a row may together be a piece, or be written as bytes.
void Unigram::appendUnknown(std::string_view text, std::vector<std::int64_t>& ids) const {
    if (const auto id = pieces().idOf(text))
        ids.push_back(*id);
    else if (!byte_fallback || !pieces().appendBytes(text, ids))
        ids.push_back(requireUnknown());
}

void Unigram::encode(std::string_view word, EncodingBudget& budget, std::vector<std::int64_t>& ids) const {
    const std::vector<Best> best = bestSegmentations(word, budget);
    struct Cut {
        std::size_t begin, end;
        std::int32_t id;
    };
    std::vector<Cut> splits_words;  // from the end of the word to its beginning
    for (std::size_t end = word.size(); end > 0;) {
        const auto begin = static_cast<std::size_t>(best[end].begin);
        const std::int32_t id = best[end].id;
        if (id == unknown_ && !splits_words.empty() && splits_words.back().id == unknown_)
            splits_words.back().begin = begin;
        else
            splits_words.push_back({begin, end, id});
        end = begin;
    }
    for (auto cut = splits_words.rbegin(); cut != splits_words.rend(); ++cut)
        if (cut->id == unknown_)
            appendUnknown(word.substr(cut->begin, cut->end - cut->begin), ids);
        else
            ids.push_back(cut->id);
}

}  // namespace roper
