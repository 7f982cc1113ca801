#include "core/tokenizers/splitting.h"

#include <algorithm>
#include <utility>

#include "core/tokenizers/characters.h"
#include "core/tokenizers/normalization.h"
#include "core/tokenizers/pieces.h"

namespace roper {
namespace {

/// A match, or the text between two matches.
struct Part {
    std::size_t begin, end;
    bool matches;
};

/// Joins matches with their neighbors according to the rule and passes on the words. In a run of adjacent
/// matches, only the one next to other text joins it.
class PartJoiner {
  public:
    PartJoiner(Split::MatchBehavior rule, std::function<void(const Part&)> visit)
        : rule_(rule), visit_(std::move(visit)) {}

    void add(const Part& part) {
        if (rule_ == Split::MatchBehavior::removed && part.matches) return;
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
            case Split::MatchBehavior::contiguous:
                return part.matches == held_->matches;
            case Split::MatchBehavior::merged_with_previous:
                return part.matches && !held_->matches;
            case Split::MatchBehavior::merged_with_next:
                return held_->matches && !part.matches;
            case Split::MatchBehavior::isolated:
            case Split::MatchBehavior::removed:
                break;
        }
        return false;
    }

    Split::MatchBehavior rule_;
    std::function<void(const Part&)> visit_;
    std::optional<Part> held_;  ///< `matches` is that of its last part
};

void cut(std::string_view text, const Split& split, Split::MatchBehavior rule, EncodingBudget& budget,
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
    static const Pattern kSpace = Pattern::literal(" ");
    std::string result = replaced(text, kSpace, split.space, budget);
    const bool prefixed =
        split.prefix == Split::Prefix::always || (split.prefix == Split::Prefix::first && is_first);
    if (prefixed && !result.starts_with(split.space)) result.insert(0, split.space);
    return result;
}

/// Passes on stretches of `length` characters; the last may be shorter.
void cutEvery(std::uint64_t length, std::string_view text, const std::function<void(const Part&)>& visit) {
    std::size_t begin = 0;
    for (std::uint64_t characters = 1, at = 0; at < text.size(); ++characters) {
        at = std::min(at + characterLength(text[at]), text.size());
        if (characters % length != 0 && at < text.size()) continue;
        visit({begin, at, true});
        begin = at;
    }
}

/// Passes on stretches of one script. Characters without a script belong to the stretch before them; those at
/// the beginning of the text are left out.
void cutByScript(std::string_view text, const std::function<void(const Part&)>& visit) {
    std::size_t begin = 0;
    std::optional<int> script;
    for (std::size_t at = 0; at < text.size(); at += characterLength(text[at])) {
        const auto other = unicodeScript(characterAt(text, at).value_or(' '));
        if (!other || other == script) continue;
        if (script) visit({begin, at, true});
        begin = at;
        script = other;
    }
    if (script) visit({begin, text.size(), true});
}

}  // namespace

/// Determined by testing every character.
Pattern punctuationMark() {
    static const std::string kPunctuationAfterUnicode8 =
        R"(\x{61D}\x{9FD}\x{A76}\x{C77}\x{C84}\x{1B7D}-\x{1B7E}\x{2E43}-\x{2E4F}\x{2E52}-\x{2E5D})"
        R"(\x{10EAD}\x{10F55}-\x{10F59}\x{10F86}-\x{10F89}\x{1144B}-\x{1144F}\x{1145A}-\x{1145B})"
        R"(\x{1145D}\x{11660}-\x{1166C}\x{116B9}\x{1183B}\x{11944}-\x{11946}\x{119E2})"
        R"(\x{11A3F}-\x{11A46}\x{11A9A}-\x{11A9C}\x{11A9E}-\x{11AA2}\x{11C41}-\x{11C45})"
        R"(\x{11C70}-\x{11C71}\x{11EF7}-\x{11EF8}\x{11FFF}\x{12FF1}-\x{12FF2}\x{16E97}-\x{16E9A})"
        R"(\x{16FE2}\x{1E95E}-\x{1E95F})";
    return Pattern("(?![" + kPunctuationAfterUnicode8 + R"(])[\p{P}!-/:-@\[-`{-~\x{166D}\x{111C9}])");
}

void addBertSplits(std::vector<Split>& splits) {
    splits.push_back({.pattern = Pattern(R"(\s)"), .match = Split::MatchBehavior::removed});
    splits.push_back({.pattern = punctuationMark()});
}

void forEachWord(std::string_view text, std::span<const Split> splits, std::size_t beginning,
                 EncodingBudget& budget, const std::function<void(std::string_view)>& visit) {
    if (splits.empty()) return visit(text);
    const Split& split = splits.front();
    const auto rest = splits.subspan(1);
    std::string rewritten;
    if (split.kind == Split::Kind::prepend_space) {
        if (!text.starts_with(' ')) {
            text = rewritten.append(" ").append(text);
            beginning += beginning > 0 ? 1 : 0;
        }
        return forEachWord(text, rest, beginning, budget, visit);
    }
    if (split.kind == Split::Kind::bytes_to_unicode) {
        rewritten = asByteCharacters(text, budget);
        return forEachWord(rewritten, rest, asByteCharacters(text.substr(0, beginning), budget).size(),
                           budget, visit);
    }
    if (split.kind == Split::Kind::metaspace) {
        rewritten = withSpaces(text, split, beginning > 0, budget);
        text = rewritten;
        beginning = 0;  // only one Metaspace needs it
        if (!split.splits_words) return forEachWord(text, rest, beginning, budget, visit);
    }
    const auto splitPart = [&](const Part& part) {
        forEachWord(text.substr(part.begin, part.end - part.begin), rest,
                    beginning - std::min(beginning, part.begin), budget, visit);
    };
    if (split.kind == Split::Kind::fixed_length) return cutEvery(split.length, text, splitPart);
    if (split.kind == Split::Kind::scripts) return cutByScript(text, splitPart);
    const auto rule =
        split.kind == Split::Kind::metaspace ? Split::MatchBehavior::merged_with_next : split.match;
    cut(text, split, rule, budget, splitPart);
}

}  // namespace roper
