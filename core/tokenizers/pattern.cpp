#include "core/tokenizers/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "core/base/text.h"
#include "core/tokenizers/characters.h"
#include "core/tokenizers/pattern_syntax.h"
#include "core/tokenizers/pieces.h"

namespace roper {
namespace {

/// Limit of PCRE2's interpreter for the heap of one match, in kB; used where no JIT supports the processor.
constexpr std::uint32_t kMaxHeap_kib = 64U << 10U;
/// Preparing a match costs as much as this many steps.
constexpr std::uint64_t kStepsPerSearch = 32;

template <class Type>
using Owned = std::unique_ptr<Type, void (*)(Type*)>;

template <class Type>
Type* made(Type* pointer) {
    if (pointer == nullptr) throw std::bad_alloc();
    return pointer;
}

/// Minimum repeat count of an item such as a{1000}, which may fail after nearly as many characters.
std::uint32_t fewestRepeats(std::string_view item) {
    const std::size_t brace = item.rfind('{');
    if (brace == std::string_view::npos || !item.ends_with('}')) return 0;
    std::uint32_t count = 0;
    std::from_chars(item.data() + brace + 1, item.data() + item.size(), count);
    return count;
}

/// Steps that PCRE2's callouts do not show, by position in the expression. PCRE2 calls back before each item
/// of the expression; until the next callout it may read this many characters without advancing.
struct HiddenSteps {
    std::string_view expression;
    std::vector<std::uint32_t> at;
};

int addHiddenSteps(pcre2_callout_enumerate_block* item, void* data) {
    auto& steps = *static_cast<HiddenSteps*>(data);
    steps.at.at(item->pattern_position) =
        fewestRepeats(steps.expression.substr(item->pattern_position, item->next_item_length));
    return 0;
}

/// Counts the cost of a match: one step for each item of the expression that is tried, and one for each byte
/// that the position moves forward or back. PCRE2's own limit starts afresh at every possible beginning of a
/// match.
struct StepCounter {
    EncodingBudget& budget;
    const std::vector<std::uint32_t>& hidden;
    std::size_t place;
};

int countStep(pcre2_callout_block* stop, void* data) {
    auto& counter = *static_cast<StepCounter*>(data);
    const std::size_t now = stop->current_position, before = counter.place;
    counter.place = now;
    const std::size_t moved = now > before ? now - before : before - now;
    return counter.budget.spend(1 + moved + counter.hidden[stop->pattern_position]) ? 0 : PCRE2_ERROR_CALLOUT;
}

std::string problemOf(int code) {
    if (code == PCRE2_ERROR_PATTERN_TOO_LARGE || code == PCRE2_ERROR_PATTERN_TOO_COMPLICATED)
        return "repeats too much: it is too large when expanded";
    return "cannot be compiled";
}

Owned<pcre2_code> compiled(const std::string& expression, const std::string& translated) {
    const Owned<pcre2_compile_context> limits(made(::pcre2_compile_context_create(nullptr)),
                                              &::pcre2_compile_context_free);
    ::pcre2_set_max_pattern_length(limits.get(), 8 * Pattern::kMaxBytes);
    constexpr std::uint32_t kOptions =
        PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;
    int problem = 0;
    PCRE2_SIZE place = 0;
    Owned<pcre2_code> code(::pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                                           kOptions, &problem, &place, limits.get()),
                           &::pcre2_code_free);
    if (!code)
        throw std::invalid_argument(
            quotedPattern(expression) + " " + problemOf(problem) + ", near " +
            quoteExcerpt(toSingleLine(translated.substr(place > 8 ? place - 8 : 0, 16))));
    std::uint32_t highest_reference = 0;
    ::pcre2_pattern_info(code.get(), PCRE2_INFO_BACKREFMAX, &highest_reference);
    if (highest_reference > 0)
        throw std::invalid_argument(quotedPattern(expression) +
                                    " refers to what a group matched, which is not supported");
    return code;
}

bool beginsCharacter(std::string_view text, std::size_t place) {
    return place == text.size() || (static_cast<unsigned char>(text[place]) & 0xC0U) != 0x80;
}

/// The text with stand-ins for characters unknown to PCRE2; nothing if it contains none.
std::optional<std::string> replaceNewerCharacters(std::string_view text) {
    std::optional<std::string> known;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = characterLength(text[at]);
        if (const auto character = length > 1 ? characterAt(text, at) : std::nullopt) {
            if (const Character stand_in = withoutNewer(*character); stand_in != *character) {
                if (!known) known = text;
                std::string replacement;
                append(stand_in, replacement);
                known->replace(at, length, replacement);
            }
        }
        at += length;
    }
    return known;
}

void forEachOccurrence(std::string_view literal, std::string_view text, EncodingBudget& budget,
                       const Pattern::MatchCallback& visit) {
    budget.require(text.size());
    for (std::size_t at = text.find(literal); at != std::string_view::npos;
         at = text.find(literal, at + literal.size()))
        visit(at, at + literal.size());
}

}  // namespace

struct Pattern::Compiled {
    Owned<pcre2_code> code;
    std::vector<std::uint32_t> hidden_steps;
    std::string quoted;
};

Pattern::Pattern(const std::string& expression) {
    if (expression.size() > kMaxBytes)
        throw std::invalid_argument(quotedPattern(expression) + " is longer than " +
                                    std::to_string(kMaxBytes) + " bytes");
    const std::string translated = toPcre2(expression);
    Owned<pcre2_code> code = compiled(expression, translated);
    ::pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // where JIT is unsupported, matching is slower
    HiddenSteps hidden{translated, std::vector<std::uint32_t>(translated.size() + 1)};
    ::pcre2_callout_enumerate(code.get(), &addHiddenSteps, &hidden);
    compiled_ = std::make_shared<const Compiled>(
        Compiled{std::move(code), std::move(hidden.at), quotedPattern(expression)});
}

Pattern Pattern::literal(std::string text) {
    Pattern pattern;
    pattern.literal_ = std::move(text);
    return pattern;
}

/// The search for matches in one text.
class Pattern::Search {
  public:
    Search(const Compiled& pattern, std::string_view text, EncodingBudget& budget)
        : pattern_(pattern), text_(text), budget_(budget), counter_{budget, pattern.hidden_steps, 0} {
        ::pcre2_set_callout(limits_.get(), &countStep, &counter_);
        ::pcre2_set_heap_limit(limits_.get(), kMaxHeap_kib);
        for (const auto set : {&::pcre2_set_match_limit, &::pcre2_set_depth_limit})
            set(limits_.get(), std::numeric_limits<std::uint32_t>::max());  // the budget is the limit
    }
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;

    struct Match {
        std::size_t begin, end;
    };
    /// The first match at or after `from`, which must be the beginning of a character.
    std::optional<Match> next(std::size_t from) {
        const int found = search(from);
        if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
        if (found == PCRE2_ERROR_CALLOUT) budget_.require(1);
        if (found < 0) throw std::invalid_argument(pattern_.quoted + " needs too much memory for this text");
        const PCRE2_SIZE* const bounds = ::pcre2_get_ovector_pointer(match_.get());
        if (bounds[0] > bounds[1] || bounds[0] < from || !beginsCharacter(text_, bounds[0]) ||
            !beginsCharacter(text_, bounds[1]))
            throw std::invalid_argument(pattern_.quoted + " has a match that goes backwards in this text");
        return Match{bounds[0], bounds[1]};
    }

  private:
    int search(std::size_t from) {
        counter_.place = from;
        const int found = ::pcre2_match(pattern_.code.get(), reinterpret_cast<PCRE2_SPTR>(text_.data()),
                                        text_.size(), from, options_, match_.get(), limits_.get());
        if (found != PCRE2_ERROR_JIT_STACKLIMIT) return found;
        options_ |= PCRE2_NO_JIT;  // PCRE2's interpreter has no fixed stack but uses the heap
        return search(from);
    }

    const Compiled& pattern_;
    std::string_view text_;
    EncodingBudget& budget_;
    StepCounter counter_;
    // The text is UTF-8 and each search begins at a character, so PCRE2 need not check it every time.
    std::uint32_t options_ = PCRE2_NO_UTF_CHECK;
    Owned<pcre2_match_context> limits_{made(::pcre2_match_context_create(nullptr)),
                                       &::pcre2_match_context_free};
    Owned<pcre2_match_data> match_{made(::pcre2_match_data_create_from_pattern(pattern_.code.get(), nullptr)),
                                   &::pcre2_match_data_free};
};

void Pattern::forEachMatch(std::string_view text, EncodingBudget& budget, const MatchCallback& visit) const {
    if (text.empty()) return;
    if (!literal_.empty()) return forEachOccurrence(literal_, text, budget, visit);
    budget.require(kStepsPerSearch);
    const std::optional<std::string> known = replaceNewerCharacters(text);
    if (known) text = *known;
    Search search(*compiled_, text, budget);
    std::optional<std::size_t> last_end;
    for (std::size_t from = 0; from <= text.size();) {
        const auto match = search.next(from);
        if (!match) return;
        if (match->begin == match->end && last_end == match->end) {
            from += from == text.size() ? 1 : characterLength(text[from]);
            continue;
        }
        visit(match->begin, match->end);
        last_end = from = match->end;
    }
}

}  // namespace roper
