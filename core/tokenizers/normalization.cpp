#include "core/tokenizers/normalization.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uniset.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "core/tokenizers/characters.h"
#include "core/tokenizers/pieces.h"

namespace roper {
namespace {

/// Even a change that does nothing takes as long as this many steps.
constexpr std::uint64_t kStepsPerChange = 16;

/// Whether normalization may reorder this character among combining marks: either it is one, or it decomposes
/// into several although its own combining class is 0.
bool isReorderable(Character character) {
    constexpr Character kTibetan[] = {0x0F73, 0x0F75, 0x0F81};
    return ::u_getCombiningClass(character) != 0 ||
           std::find(std::begin(kTibetan), std::end(kTibetan), character) != std::end(kTibetan);
}

/// Counts the steps that ICU needs to sort combining marks, such as accents, behind their letters. In the
/// worst case it moves each mark past all marks before it.
void spendOnSortingMarks(std::string_view text, EncodingBudget& budget) {
    constexpr std::uint64_t kMarksPerLetter = 4,
                            kMarksPerMark = 2;  // most marks into which one character decomposes
    std::uint64_t marks = kMarksPerLetter;
    for (std::size_t at = 0; at < text.size(); at += characterLength(text[at])) {
        const auto character = characterAt(text, at);
        if (!character) throw std::invalid_argument("the text to normalize is not UTF-8");
        marks = isReorderable(*character) ? marks + kMarksPerMark : kMarksPerLetter;
        budget.require(kMarksPerMark * marks);
    }
}

bool isAscii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void requireSuccess(UErrorCode error) {
    if (U_FAILURE(error)) throw std::runtime_error(std::string("ICU: ") + ::u_errorName(error));
}

/// A normal form of Unicode 9, as in Hugging Face's tokenizers: characters that later versions added stay in
/// place, and marks are not sorted past them.
const icu::Normalizer2& normalForm(Normalization::Kind kind) {
    using Instance = const icu::Normalizer2* (*)(UErrorCode&);
    static const auto unicode_9 = [] {
        UErrorCode error = U_ZERO_ERROR;
        icu::UnicodeSet characters(u"[:age=9.0:]", error);
        requireSuccess(error);
        characters.freeze();
        return characters;
    }();
    const auto filtered = [](Instance instance) {
        UErrorCode error = U_ZERO_ERROR;
        const icu::Normalizer2* const whole = instance(error);
        requireSuccess(error);
        return icu::FilteredNormalizer2(*whole, unicode_9);
    };
    static const icu::FilteredNormalizer2 nfc = filtered(&icu::Normalizer2::getNFCInstance),
                                          nfd = filtered(&icu::Normalizer2::getNFDInstance),
                                          nfkc = filtered(&icu::Normalizer2::getNFKCInstance),
                                          nfkd = filtered(&icu::Normalizer2::getNFKDInstance);
    using Kind = Normalization::Kind;
    return kind == Kind::nfc ? nfc : kind == Kind::nfd ? nfd : kind == Kind::nfkc ? nfkc : nfkd;
}

/// Receives a normalized text as far as its length is allowed.
class NormalizedText : public icu::ByteSink {
  public:
    explicit NormalizedText(const EncodingBudget& budget) : budget_(budget) {}

    void Append(const char* bytes, std::int32_t count) override {
        length_ += static_cast<std::size_t>(count);
        if (budget_.outputFits(length_)) text_.append(bytes, static_cast<std::size_t>(count));
    }
    /// @throws std::invalid_argument if the text is too long
    std::string take() {
        budget_.requireOutputFits(length_);
        return std::move(text_);
    }

  private:
    const EncodingBudget& budget_;
    std::string text_;
    std::size_t length_ = 0;
};

std::string toNormalForm(std::string text, Normalization::Kind kind, EncodingBudget& budget) {
    if (isAscii(text)) return text;
    spendOnSortingMarks(text, budget);
    NormalizedText made(budget);
    UErrorCode error = U_ZERO_ERROR;
    normalForm(kind).normalizeUTF8(0, text, made, nullptr, error);
    requireSuccess(error);
    text = made.take();
    budget.require(text.size());
    return text;
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
        case Kind::nfd:
        case Kind::nfkc:
        case Kind::nfkd:
            return toNormalForm(std::move(text), change.kind, budget);
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
