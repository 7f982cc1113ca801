#include "core/tokenizers/normalization.h"

#include <utf8proc.h>

#include <algorithm>
#include <stdexcept>

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

std::string toNormalForm(std::string text, int form, EncodingBudget& budget) {
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
    }
    return text;
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

std::string normalized(std::string text, const std::vector<Normalization>& changes, EncodingBudget& budget) {
    for (const Normalization& change : changes) {
        budget.require(kStepsPerChange + text.size());
        text = applied(std::move(text), change, budget);
    }
    return text;
}

}  // namespace roper
