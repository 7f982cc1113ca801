#include "core/tokenizers/pattern_syntax.h"

#include <stdexcept>
#include <string_view>

#include "core/base/text.h"

namespace roper {
namespace {

// Character classes, for use within brackets, as defined by Oniguruma, the library of Hugging Face's
// tokenizers. Spaces have Unicode's property White_Space; PCRE2's own \s also matches U+180E, and its \w
// matches no marks.
constexpr const char
    *kSpaces = R"(\t-\r\x{85}\p{Z})",
    *kNoSpaces = R"(\x00-\x08\x0E-\x1F!-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF})"
                 R"(\x{200B}-\x{2027}\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF})"
                 R"(\x{3001}-\x{10FFFF})",
    *kWords = R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169})"
              R"(\x{1F170}-\x{1F189})";
/// Numbers of Latin-1 such as ² are word characters too, except within brackets.
constexpr const char* kWordsOutsideBrackets = R"(\xB2\xB3\xB9\xBC-\xBE)";
// \b and \B.
constexpr const char *kWordBoundary = R"((?:(?<=[W])(?![W])|(?<![W])(?=[W])))",
                     *kNoWordBoundary = R"((?:(?<=[W])(?=[W])|(?<![W])(?![W])))";

std::string withWordClass(std::string_view expression) {
    std::string made;
    for (const char c : expression)
        c == 'W' ? made.append(kWords).append(kWordsOutsideBrackets) : made += c;
    return made;
}

[[noreturn]] void refuse(const std::string& expression, const std::string& what) {
    throw std::invalid_argument(quotedPattern(expression) + " has " + what + ", which is not supported");
}

/// Rewrites an expression from left to right.
class Translation {
  public:
    explicit Translation(const std::string& expression) : from_(expression) {}

    std::string written() {
        while (at_ < from_.size()) {
            if (from_[at_] == '\\' && at_ + 1 < from_.size())
                escape();
            else if (in_brackets_)
                insideBrackets();
            else
                outsideBrackets();
        }
        return made_;
    }

  private:
    std::string_view rest() const { return std::string_view(from_).substr(at_); }
    void copy(std::size_t count) {
        made_ += from_.substr(at_, count);
        at_ += count;
    }

    /// In Oniguruma, \h is a hexadecimal digit.
    void escape() {
        const char escaped = from_[at_ + 1];
        if (std::string_view("QEChH").find(escaped) != std::string_view::npos)
            refuse(from_, std::string("\\") + escaped);
        switch (escaped) {
            case 's':
                return writeClass(kSpaces);
            case 'S':
                return writeClass(kNoSpaces);
            case 'w':
            case 'W':
                return word(escaped == 'W');
            case 'b':
            case 'B':
                if (in_brackets_) refuse(from_, std::string("\\") + escaped + " within brackets");
                at_ += 2;
                made_ += withWordClass(escaped == 'b' ? kWordBoundary : kNoWordBoundary);
                return;
            case 'p':
            case 'P':
                return property();
            case 'u':
                return codePoint();
            default:
                return copy(2);
        }
    }

    void word(bool is_negated) {
        if (!in_brackets_) {
            at_ += 2;
            made_ += withWordClass(is_negated ? "[^W]" : "[W]");
        } else if (is_negated) {
            refuse(from_, "\\W within brackets");
        } else {
            writeClass(kWords);
        }
    }

    void writeClass(const char* members) {
        at_ += 2;
        made_ += in_brackets_ ? members : "[" + std::string(members) + "]";
    }

    /// \p{Han} means the characters of a script; in PCRE2 it also means characters that are merely used with
    /// the script. Names of one or two letters are general categories.
    void property() {
        const std::size_t end = from_.find('}', at_);
        if (rest().size() < 3 || rest()[2] != '{' || end == std::string::npos) return copy(2);
        std::string name = from_.substr(at_ + 3, end - at_ - 3);
        const bool is_negated = name.starts_with('^');
        if (is_negated) name.erase(0, 1);
        if (name.size() <= 2 || name.find_first_of(":=") != std::string::npos) return copy(end + 1 - at_);
        made_ += is_negated == (from_[at_ + 1] == 'p') ? "\\P{sc:" : "\\p{sc:";
        made_ += name + "}";
        at_ = end + 1;
    }

    /// \u00E9, which PCRE2 writes differently.
    void codePoint() {
        const std::string_view digits = rest().substr(2, 4);
        if (digits.size() < 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
            refuse(from_, "\\u without four hexadecimal digits");
        made_ += "\\x{" + std::string(digits) + "}";
        at_ += 6;
    }

    void insideBrackets() {
        if (rest().front() == '[' || rest().starts_with("&&")) refuse(from_, "a set within a set");
        in_brackets_ = rest().front() != ']';
        copy(1);
    }

    /// PCRE2's verbs (*LIMIT_MATCH=1), (*CRLF), (*SKIP) … and its callouts (?C1) change how the whole
    /// expression works and do not exist in Oniguruma. There, (?m) lets a dot match line ends, and a{,2}
    /// means a{0,2}.
    void outsideBrackets() {
        for (const char* const other : {"(*", "(?C", "{,"})
            if (rest().starts_with(other)) refuse(from_, std::string("\"") + other + "\"");
        if (rest().starts_with("(?")) {
            const std::size_t flags_end = rest().find_first_not_of("imsx-", 2);
            if (rest().substr(0, flags_end).find('m') != std::string_view::npos) refuse(from_, "\"(?m\"");
        }
        in_brackets_ = rest().front() == '[';
        for (const std::string_view first : {"[^]", "[]"})  // a bracket that comes first is a literal member
            if (rest().starts_with(first)) {
                copy(first.size() - 1);
                made_ += "\\]";
                ++at_;
                return;
            }
        copy(1);
    }

    const std::string& from_;
    std::string made_;
    std::size_t at_ = 0;
    bool in_brackets_ = false;
};

}  // namespace

std::string toPcre2(const std::string& expression) {
    return Translation(expression).written();
}

std::string quotedPattern(const std::string& expression) {
    return "the pattern " + quoteExcerpt(toSingleLine(expression));
}

}  // namespace roper
