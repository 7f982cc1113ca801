#include "core/tokenizers/bpe.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <utility>

#include "core/base/text.h"

namespace roper {
namespace {

constexpr std::uint64_t keyOf(std::int32_t left, std::int32_t right) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U) |
           static_cast<std::uint32_t>(right);
}

/// A piece of the word in a linked list, from which merged pieces are removed.
struct Piece {
    std::int32_t id;
    int previous, following;  ///< −1 at the ends
};

/// A possible merge, valid unless one of its parts has changed since.
struct Candidate {
    std::int32_t rank;
    int place;  ///< of the left part
    std::int32_t left, right, merged;

    bool operator<(const Candidate& other) const {
        return rank != other.rank ? rank > other.rank : place > other.place;
    }
};

}  // namespace

void Bpe::setMerges(const std::vector<Merge>& merges) {
    merges_.clear();
    merges_.reserve(merges.size());
    for (const Merge& merge : merges)
        merges_[keyOf(merge.left, merge.right)] = {merge.rank, merge.merged};
}

std::optional<Bpe::Merge> Bpe::mergeOf(const std::string& left, const std::string& right,
                                       std::size_t rank) const {
    if (right.size() < continuing_prefix.size()) return std::nullopt;
    const auto a = pieces().idOf(left), b = pieces().idOf(right),
               merged = pieces().idOf(left + right.substr(continuing_prefix.size()));
    if (!a || !b || !merged) return std::nullopt;
    return Merge{*a, *b, *merged, static_cast<std::int32_t>(rank)};
}

const Bpe::RankedMerge* Bpe::merge(std::int32_t left, std::int32_t right) const {
    const auto found = merges_.find(keyOf(left, right));
    return found == merges_.end() ? nullptr : &found->second;
}

std::vector<std::int32_t> Bpe::characters(std::string_view word) const {
    std::vector<std::int32_t> ids;
    // As in Hugging Face's tokenizers, the id of an unknown character is written only before the next known
    // one; bytes do not count as known.
    bool unknown_pending = false;
    const auto writeUnknown = [&] {
        if (std::exchange(unknown_pending, false)) ids.push_back(*unknown);
    };
    std::string piece;
    for (std::size_t at = 0; at < word.size();) {
        const std::size_t length = std::min(characterLength(word[at]), word.size() - at);
        piece = at > 0 ? continuing_prefix : "";
        piece += word.substr(at, length);
        at += length;
        if (at == word.size()) piece += word_suffix;
        if (const auto id = pieces().idOf(piece)) {
            writeUnknown();
            ids.push_back(*id);
            continue;
        }
        if ((!byte_fallback || !pieces().appendBytes(piece, ids)) && unknown) {
            if (!fuse_unknown) writeUnknown();
            unknown_pending = true;
        }
    }
    writeUnknown();
    return ids;
}

void Bpe::encode(std::string_view word, EncodingBudget&, std::vector<std::int64_t>& ids) const {
    if (ignore_merges) {
        if (const auto id = pieces().idOf(word)) {
            ids.push_back(*id);
            return;
        }
    }
    std::vector<Piece> parts;
    for (const std::int32_t id : characters(word)) {
        const int place = static_cast<int>(parts.size());
        parts.push_back({id, place - 1, place + 1});
    }
    if (parts.empty()) return;
    parts.back().following = -1;

    const auto candidateAt = [&](int left) -> std::optional<Candidate> {
        if (left < 0 || parts[static_cast<std::size_t>(left)].following < 0) return std::nullopt;
        const Piece& part = parts[static_cast<std::size_t>(left)];
        const std::int32_t right = parts[static_cast<std::size_t>(part.following)].id;
        const RankedMerge* const found = merge(part.id, right);
        if (found == nullptr) return std::nullopt;
        return Candidate{found->rank, left, part.id, right, found->merged};
    };
    std::vector<Candidate> first;
    for (int place = 0; place + 1 < static_cast<int>(parts.size()); ++place)
        if (const auto candidate = candidateAt(place)) first.push_back(*candidate);
    std::priority_queue<Candidate> candidates(std::less<Candidate>(), std::move(first));
    const auto consider = [&](int left) {
        if (const auto candidate = candidateAt(left)) candidates.push(*candidate);
    };
    while (!candidates.empty()) {
        const Candidate next = candidates.top();
        candidates.pop();
        Piece& left = parts[static_cast<std::size_t>(next.place)];
        if (left.id != next.left || left.following < 0) continue;
        Piece& right = parts[static_cast<std::size_t>(left.following)];
        if (right.id != next.right) continue;
        left.id = next.merged;
        right.id = -1;  // removed
        left.following = right.following;
        if (left.following >= 0) parts[static_cast<std::size_t>(left.following)].previous = next.place;
        consider(left.previous);
        consider(next.place);
    }
    for (int place = 0; place >= 0; place = parts[static_cast<std::size_t>(place)].following)
        ids.push_back(parts[static_cast<std::size_t>(place)].id);
}

std::vector<Bpe::Merge> mergesFromScores(const Pieces& vocabulary, const std::vector<double>& scores) {
    const std::vector<std::string>& pieces = vocabulary.texts();
    for (const std::string& piece : pieces)
        if (piece.size() > kMaxScoredPieceBytes)
            throw std::invalid_argument("the token " + quoteExcerpt(piece) + " is too long");
    std::vector<std::int32_t> by_score(pieces.size());
    std::iota(by_score.begin(), by_score.end(), 0);
    std::stable_sort(by_score.begin(), by_score.end(), [&](std::int32_t a, std::int32_t b) {
        return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
    });
    std::vector<Bpe::Merge> merges;
    std::int32_t rank = 0;
    double score = scores.empty() ? 0 : scores[static_cast<std::size_t>(by_score.front())];
    for (const std::int32_t merged : by_score) {
        if (scores[static_cast<std::size_t>(merged)] != score) ++rank;
        score = scores[static_cast<std::size_t>(merged)];
        const std::string_view piece = pieces[static_cast<std::size_t>(merged)];
        for (std::size_t cut = 0; cut < piece.size();) {
            cut += characterLength(piece[cut]);
            if (cut >= piece.size()) break;
            const auto left = vocabulary.idOf(piece.substr(0, cut));
            if (!left) continue;
            const auto right = vocabulary.idOf(piece.substr(cut));
            if (right && merges.size() == kMaxScoredMerges)
                throw std::invalid_argument("there are more than " + std::to_string(kMaxScoredMerges) +
                                            " ways to merge two tokens into one");
            if (right) merges.push_back({*left, *right, merged, rank});
        }
    }
    return merges;
}

}  // namespace roper
