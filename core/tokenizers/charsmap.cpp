#include "core/tokenizers/charsmap.h"

#include <unicode/brkiter.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "core/base/text.h"
#include "core/tokenizers/characters.h"
#include "core/tokenizers/pieces.h"

namespace roper {
namespace {

/// A step through the trie takes as long as this many other steps.
constexpr std::uint64_t kStepsOfTrie = 4;
/// Longest grapheme cluster that is looked up as a whole, in bytes.
constexpr std::size_t kLongestGrapheme = 5;

std::uint32_t littleEndian(std::string_view bytes) {
    std::uint32_t number = 0;
    for (std::size_t i = 4; i-- > 0;)
        number = (number << 8U) | static_cast<unsigned char>(bytes[i]);
    return number;
}

// Fields of a unit of a double array.
bool hasLeaf(std::uint32_t unit) {
    return ((unit >> 8U) & 1U) != 0;
}
std::uint32_t labelOf(std::uint32_t unit) {
    return unit & ((1U << 31U) | 0xFFU);
}
std::uint32_t offsetOf(std::uint32_t unit) {
    return (unit >> 10U) << ((unit & (1U << 9U)) >> 6U);
}
std::uint32_t valueOf(std::uint32_t unit) {
    return unit & ((1U << 31U) - 1);
}

/// The ends of a text's grapheme clusters, in order.
class GraphemeEnds {
  public:
    explicit GraphemeEnds(std::string_view text) {
        UErrorCode error = U_ZERO_ERROR;
        text_.adoptInstead(
            ::utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &error));
        iterator_.reset(icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), error));
        if (U_SUCCESS(error)) iterator_->setText(text_.getAlias(), error);
        if (U_FAILURE(error)) throw std::runtime_error(std::string("ICU: ") + ::u_errorName(error));
    }

    std::size_t next() { return static_cast<std::size_t>(iterator_->next()); }

  private:
    icu::LocalUTextPointer text_;
    std::unique_ptr<icu::BreakIterator> iterator_;
};

}  // namespace

Charsmap::Charsmap(std::string_view bytes) {
    const auto refuse = [](const char* why) {
        throw std::invalid_argument(std::string("precompiled_charsmap ") + why);
    };
    if (bytes.size() < 4) refuse("is too short");
    const std::uint32_t trie_bytes = littleEndian(bytes);
    bytes.remove_prefix(4);
    if (trie_bytes > bytes.size() || trie_bytes < 4 || trie_bytes % 4 != 0)
        refuse("has a trie of the wrong length");
    for (std::size_t at = 0; at < trie_bytes; at += 4)
        trie_.push_back(littleEndian(bytes.substr(at)));
    replacements_ = bytes.substr(trie_bytes);
    if (findInvalidUtf8(replacements_) != std::string_view::npos)
        refuse("has a replacement that is not UTF-8");
}

std::uint32_t Charsmap::unitAt(std::size_t at) const {
    if (at >= trie_.size())
        throw std::invalid_argument("precompiled_charsmap refers to an offset outside itself");
    return trie_[at];
}

/// The shortest or longest text of the map with which the text begins; empty if there is none.
std::optional<Charsmap::Found> Charsmap::prefixOf(std::string_view text, Prefix which) const {
    std::optional<Found> found;
    std::size_t at = offsetOf(unitAt(0));
    for (std::size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        at ^= byte;
        const std::uint32_t unit = unitAt(at);
        if (labelOf(unit) != byte) return found;
        at ^= offsetOf(unit);
        if (!hasLeaf(unit)) continue;
        const std::size_t begin = valueOf(unitAt(at));
        if (begin > replacements_.size() ||
            (begin < replacements_.size() &&
             (static_cast<unsigned char>(replacements_[begin]) & 0xC0U) == 0x80))
            throw std::invalid_argument("precompiled_charsmap refers to a replacement outside itself");
        const std::size_t end = std::min(replacements_.find('\0', begin), replacements_.size());
        found = Found{i + 1, std::string_view(replacements_).substr(begin, end - begin)};
        if (which == Prefix::shortest) return found;
    }
    return found;
}

std::string Charsmap::byGraphemes(std::string_view text, EncodingBudget& budget) const {
    std::string made;
    budget.require(kStepsOfTrie * 2 * text.size());
    GraphemeEnds ends(text);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = ends.next();
        const std::string_view grapheme = text.substr(begin, end - begin);
        const auto whole =
            grapheme.size() <= kLongestGrapheme ? prefixOf(grapheme, Prefix::shortest) : std::nullopt;
        if (whole) made += whole->replacement;
        for (std::size_t at = 0; at < grapheme.size() && !whole;) {
            const std::string_view character = grapheme.substr(at, characterLength(grapheme[at]));
            const auto found = prefixOf(character, Prefix::shortest);
            made += found ? found->replacement : character;
            at += character.size();
        }
        budget.requireOutputFits(made.size());
        begin = end;
    }
    return made;
}

std::string Charsmap::byLongest(std::string_view text, EncodingBudget& budget) const {
    constexpr std::size_t kLongestSource = 64;
    std::string made;
    for (std::size_t at = 0; at < text.size();) {
        budget.require(kStepsOfTrie);
        const auto found = prefixOf(text.substr(at, kLongestSource), Prefix::longest);
        const std::string_view character = text.substr(at, characterLength(text[at]));
        made += found ? found->replacement : character;
        at += found ? found->length : character.size();
        budget.requireOutputFits(made.size());
    }
    return made;
}

}  // namespace roper
