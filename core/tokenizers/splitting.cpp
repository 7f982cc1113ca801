#include "core/tokenizers/splitting.h"

#include <utility>

#include "core/tokenizers/normalization.h"

namespace roper {
namespace {

/// A match, or the text between two matches.
struct Part {
    std::size_t begin, end;
    bool matches;
};

/// Joins matches with their neighbours according to the rule and passes on the words. In a run of adjacent
/// matches, only the one next to other text joins it.
class PartJoiner {
  public:
    PartJoiner(Split::Match rule, std::function<void(const Part&)> visit)
        : rule_(rule), visit_(std::move(visit)) {}

    void add(const Part& part) {
        if (rule_ == Split::Match::removed && part.matches) return;
        if (held_ && joins(part)) {
            held_->end = part.end;
            held_->matches = part.matches;
            return;
        }
        finish();
        held_ = part;
    }

    void finish() {
        if (held_ && held_->end > held_->begin) visit_(*held_);
        held_.reset();
    }

  private:
    bool joins(const Part& part) const {
        switch (rule_) {
            case Split::Match::contiguous:
                return part.matches == held_->matches;
            case Split::Match::with_previous:
                return part.matches && !held_->matches;
            case Split::Match::with_next:
                return held_->matches && !part.matches;
            case Split::Match::isolated:
            case Split::Match::removed:
                break;
        }
        return false;
    }

    Split::Match rule_;
    std::function<void(const Part&)> visit_;
    std::optional<Part> held_;  ///< `matches` is that of its last part
};

void cut(std::string_view text, const Split& split, Split::Match rule, EncodingBudget& budget,
         const std::function<void(const Part&)>& visit) {
    PartJoiner joiner(rule, visit);
    std::size_t done = 0;
    split.pattern->forEachMatch(text, budget, [&](std::size_t begin, std::size_t end) {
        if (begin > done) joiner.add({done, begin, split.inverted});
        joiner.add({begin, end, !split.inverted});
        done = end;
    });
    if (done < text.size()) joiner.add({done, text.size(), split.inverted});
    joiner.finish();
}

std::string withSpaces(std::string_view text, const Split& split, bool is_first, EncodingBudget& budget) {
    static const Pattern kBlank = Pattern::literal(" ");
    std::string made = replaced(text, kBlank, split.space, budget);
    const bool prefixed =
        split.prefix == Split::Prefix::always || (split.prefix == Split::Prefix::first && is_first);
    if (prefixed && !made.starts_with(split.space)) made.insert(0, split.space);
    return made;
}

}  // namespace

void forEachWord(std::string_view text, std::span<const Split> splits, bool is_first, EncodingBudget& budget,
                 const std::function<void(std::string_view)>& visit) {
    if (splits.empty()) return visit(text);
    const Split& split = splits.front();
    const auto rest = splits.subspan(1);
    std::string spaced;
    if (split.kind == Split::Kind::prepend_blank) {
        if (!text.starts_with(' ')) text = spaced.append(" ").append(text);
        return forEachWord(text, rest, is_first, budget, visit);
    }
    if (split.kind == Split::Kind::metaspace) {
        spaced = withSpaces(text, split, is_first, budget);
        text = spaced;
        if (!split.splits_words) return forEachWord(text, rest, is_first, budget, visit);
    }
    const auto rule = split.kind == Split::Kind::metaspace ? Split::Match::with_next : split.match;
    cut(text, split, rule, budget, [&](const Part& part) {
        forEachWord(text.substr(part.begin, part.end - part.begin), rest, is_first && part.begin == 0, budget,
                    visit);
    });
}

}  // namespace roper
