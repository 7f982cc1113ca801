#include "core/tokenizers/normalization.h"

#include <utf8proc.h>

#include <algorithm>
#include <stdexcept>

#include "core/tokenizers/characters.h"
#include "core/tokenizers/pieces.h"

namespace roper {
namespace {

/// Even a change that does nothing takes as long as this many steps.
constexpr std::uint64_t kStepsPerChange = 16;

const utf8proc_uint8_t* bytesOf(std::string_view text) {
    return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

/// Whether normalization may reorder this character among combining marks: either it is one, or it decomposes
/// into several although its own combining class is 0.
bool isReorderable(utf8proc_int32_t point) {
    constexpr utf8proc_int32_t kTibetan[] = {0x0F73, 0x0F75, 0x0F81};
    return ::utf8proc_get_property(point)->combining_class != 0 ||
           std::find(std::begin(kTibetan), std::end(kTibetan), point) != std::end(kTibetan);
}

/// Counts the steps that utf8proc needs to sort combining marks, such as accents, behind their letters. In
/// the worst case it moves each mark past all marks before it.
void spendOnSortingMarks(std::string_view text, EncodingBudget& budget) {
    constexpr std::uint64_t kMarksPerLetter = 4,
                            kMarksPerMark = 2;  // most marks into which one character decomposes
    std::uint64_t marks = kMarksPerLetter;
    for (std::size_t at = 0; at < text.size();) {
        utf8proc_int32_t point = 0;
        const auto length =
            ::utf8proc_iterate(bytesOf(text) + at, static_cast<utf8proc_ssize_t>(text.size() - at), &point);
        if (length <= 0) throw std::invalid_argument("the text to normalize is not UTF-8");
        marks = isReorderable(point) ? marks + kMarksPerMark : kMarksPerLetter;
        budget.require(kMarksPerMark * marks);
        at += static_cast<std::size_t>(length);
    }
}

bool isAscii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string stretchInNormalForm(std::string text, int form, EncodingBudget& budget) {
    if (isAscii(text)) return text;
    spendOnSortingMarks(text, budget);
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | form);
    const auto size = static_cast<utf8proc_ssize_t>(text.size());
    const auto require = [](utf8proc_ssize_t count) {
        if (count < 0)
            throw std::invalid_argument(std::string("normalizing the text failed: ") +
                                        ::utf8proc_errmsg(count));
        return static_cast<std::size_t>(count);
    };
    const std::size_t count = require(::utf8proc_decompose(bytesOf(text), size, nullptr, 0, options));
    budget.requireOutputFits(count);
    budget.require(count);
    std::vector<utf8proc_int32_t> points(count + 1);  // utf8proc writes a zero behind the text
    const auto decomposed = ::utf8proc_decompose(bytesOf(text), size, points.data(),
                                                 static_cast<utf8proc_ssize_t>(count), options);
    const std::size_t length = require(
        ::utf8proc_reencode(points.data(), static_cast<utf8proc_ssize_t>(require(decomposed)), options));
    budget.requireOutputFits(length);
    text.assign(reinterpret_cast<const char*>(points.data()), length);
    return text;
}

/// Characters that later versions of Unicode decompose or reorder are left in place.
std::string toNormalForm(std::string text, int form, EncodingBudget& budget) {
    if (isAscii(text)) return text;
    std::string made;
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = characterLength(text[at]);
        const auto character = length > 1 ? characterAt(text, at) : std::nullopt;
        if (character && isNormalizedLater(*character)) {
            made += stretchInNormalForm(text.substr(done, at - done), form, budget);
            made.append(text, at, length);
            done = at + length;
        }
        at += length;
    }
    if (done == 0) return stretchInNormalForm(std::move(text), form, budget);
    made += stretchInNormalForm(text.substr(done), form, budget);
    budget.requireOutputFits(made.size());
    return made;
}

/// The text with `change(character, text)` appended for each character. Characters of the same kind take
/// less time than kStepsOfCharacter.
template <class Change>
std::string eachChanged(std::string_view text, EncodingBudget& budget, const Change& change) {
    constexpr std::uint64_t kStepsOfCharacter = 4;
    budget.require(kStepsOfCharacter * text.size());
    std::string made;
    made.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); at += characterLength(text[at])) {
        const auto character = characterAt(text, at);
        if (!character) throw std::invalid_argument("the text to normalize is not UTF-8");
        change(*character, made);
    }
    budget.requireOutputFits(made.size());
    return made;
}

template <class IsRemoved>
std::string without(std::string_view text, EncodingBudget& budget, const IsRemoved& is_removed) {
    return eachChanged(text, budget, [&](Character character, std::string& made) {
        if (!is_removed(character)) append(character, made);
    });
}

std::string stripped(std::string_view text, bool at_left, bool at_right) {
    const auto isBlank = [](std::optional<Character> character) {
        return character && isWhiteSpace(*character);
    };
    while (at_left && isBlank(characterAt(text, 0)))
        text.remove_prefix(characterLength(text.front()));
    while (at_right && isBlank(characterBefore(text, text.size())))
        text = text.substr(0, previousCharacterBegin(text, text.size()));
    return std::string(text);
}

std::string cleaned(std::string_view text, EncodingBudget& budget) {
    return eachChanged(text, budget, [](Character character, std::string& made) {
        const bool is_line = character == '\t' || character == '\n' || character == '\r';
        if (character == 0 || character == 0xFFFD || (!is_line && isOther(character))) return;
        append(isWhiteSpace(character) ? ' ' : character, made);
    });
}

std::string withChinesePadded(std::string_view text, EncodingBudget& budget) {
    return eachChanged(text, budget, [](Character character, std::string& made) {
        if (isChinese(character)) made += ' ';
        append(character, made);
        if (isChinese(character)) made += ' ';
    });
}

/// The normalizer Nmt of Hugging Face's tokenizers, which follows SentencePiece's rules "nmt_nfkc".
std::string byNmtRules(std::string_view text, EncodingBudget& budget) {
    return eachChanged(text, budget, [](Character c, std::string& made) {
        if ((c >= 1 && c <= 8) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F ||
            c == 0x9F)
            return;
        static constexpr Character kBlanks[] = {0x09,   0x0A,   0x0C,   0x0D,   0x1680,
                                                0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD};
        const bool is_blank = (c >= 0x200B && c <= 0x200F) ||
                              std::find(std::begin(kBlanks), std::end(kBlanks), c) != std::end(kBlanks);
        append(is_blank ? ' ' : c, made);
    });
}

std::string applied(std::string text, const Normalization& change, EncodingBudget& budget) {
    using Kind = Normalization::Kind;
    switch (change.kind) {
        case Kind::nfc:
            return toNormalForm(std::move(text), UTF8PROC_COMPOSE, budget);
        case Kind::nfd:
            return toNormalForm(std::move(text), UTF8PROC_DECOMPOSE, budget);
        case Kind::nfkc:
            return toNormalForm(std::move(text), UTF8PROC_COMPOSE | UTF8PROC_COMPAT, budget);
        case Kind::nfkd:
            return toNormalForm(std::move(text), UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT, budget);
        case Kind::prepend:
            budget.requireOutputFits(text.size() + change.text.size());
            return text.empty() ? text : change.text + text;
        case Kind::replace:
            return replaced(text, *change.pattern, change.text, budget);
        case Kind::lower_case:
            return eachChanged(
                text, budget, [](Character character, std::string& made) { made += lowerCaseOf(character); });
        case Kind::strip:
            return stripped(text, change.at_left, change.at_right);
        case Kind::strip_accents:
            return without(text, budget, &isCombiningMark);
        case Kind::strip_nonspacing:
            return without(text, budget, &isNonspacingMark);
        case Kind::clean:
            return cleaned(text, budget);
        case Kind::pad_chinese:
            return withChinesePadded(text, budget);
        case Kind::nmt:
            return byNmtRules(text, budget);
        case Kind::graphemes_by_map:
            return change.charsmap->byGraphemes(text, budget);
        case Kind::longest_by_map:
            return change.charsmap->byLongest(text, budget);
        case Kind::bytes_to_unicode:
            return asByteCharacters(text, budget);
    }
    return text;
}

std::string_view firstCharacter(std::string_view text) {
    return text.empty() ? text : text.substr(0, characterLength(text.front()));
}

/// `beginning` of `normalized` behind a change by `replace`.
std::size_t beginningAfterReplacing(const Normalization& change, std::string_view text, std::size_t beginning,
                                    EncodingBudget& budget) {
    std::size_t after = 0, done = 0;
    bool goes_on = true;
    change.pattern->forEachMatch(text, budget, [&](std::size_t begin, std::size_t end) {
        if (!goes_on) return;
        after += std::min(begin, beginning) - std::min(done, beginning);
        // What replaces an empty match at the beginning of the text stands for its first character.
        goes_on = begin <= beginning && (end == 0 || end <= beginning);
        if (goes_on) after += change.text.size();
        goes_on = goes_on && (end < beginning || change.text.empty());
        done = end;
    });
    if (goes_on && done < beginning) after += beginning - done;
    return after;
}

/// `beginning` of `normalized` behind one change. @param made  the text after it
std::size_t beginningAfter(const Normalization& change, const std::string& text, const std::string& made,
                           std::size_t beginning, EncodingBudget& budget) {
    using Kind = Normalization::Kind;
    switch (change.kind) {
        case Kind::prepend:
            if (change.text.empty()) return beginning == 0 ? firstCharacter(made).size() : beginning;
            return beginning == 0 ? 0 : change.text.size() + beginning;
        case Kind::strip: {
            const std::size_t removed =
                text.size() - stripped(text, change.at_left, /*at_right=*/false).size();
            return std::min(beginning - std::min(beginning, removed), made.size());
        }
        case Kind::replace:
            return beginningAfterReplacing(change, text, beginning, budget);
        default:
            break;
    }
    if (beginning == 0) return 0;
    const std::string alone = applied(text.substr(0, beginning), change, budget);
    if (alone.empty()) return change.kind == Kind::graphemes_by_map ? firstCharacter(made).size() : 0;
    return made.starts_with(alone) ? alone.size() : firstCharacter(made).size();
}

std::vector<std::string> makeByteCharacters() {
    std::vector<std::string> characters(256);
    Character next = 256;
    for (Character byte = 0; byte < 256; ++byte) {
        const bool prints = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
        append(prints ? byte : next++, characters[static_cast<std::size_t>(byte)]);
    }
    return characters;
}

}  // namespace

std::string replaced(std::string_view text, const Pattern& pattern, const std::string& by,
                     EncodingBudget& budget) {
    std::string made;
    std::size_t done = 0;
    pattern.forEachMatch(text, budget, [&](std::size_t begin, std::size_t end) {
        made.append(text, done, begin - done).append(by);
        budget.requireOutputFits(made.size());
        done = end;
    });
    made.append(text, done);
    budget.requireOutputFits(made.size());
    return made;
}

const std::vector<std::string>& byteCharacters() {
    static const std::vector<std::string> characters = makeByteCharacters();
    return characters;
}

std::string asByteCharacters(std::string_view text, EncodingBudget& budget) {
    std::string made;
    made.reserve(2 * text.size());
    for (const char byte : text)
        made += byteCharacters()[static_cast<unsigned char>(byte)];
    budget.requireOutputFits(made.size());
    return made;
}

std::string normalized(std::string text, const std::vector<Normalization>& changes, EncodingBudget& budget,
                       std::size_t* beginning) {
    if (beginning != nullptr) *beginning = firstCharacter(text).size();
    for (const Normalization& change : changes) {
        budget.require(kStepsPerChange + text.size());
        if (beginning == nullptr) {
            text = applied(std::move(text), change, budget);
            continue;
        }
        std::string made = applied(text, change, budget);
        *beginning = beginningAfter(change, text, made, *beginning, budget);
        text = std::move(made);
    }
    return text;
}

}  // namespace roper
