#include "core/tokenizers/pattern_syntax.h"

#include <stdexcept>
#include <string_view>

#include "core/base/text.h"

namespace roper {
namespace {

constexpr const char* kSpaces = R"(\t-\r\x{85}\p{Z})";  // White_Space, within brackets

[[noreturn]] void refuse(const std::string& expression, const std::string& what) {
    throw std::invalid_argument(quotedPattern(expression) + " has " + what + ", which is not read here");
}

/// Reads an expression from left to right and writes it anew.
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

    /// PCRE2's own \s takes U+180E for a space, which Unicode no longer does. Elsewhere \h is a hexadecimal
    /// digit.
    void escape() {
        const char escaped = from_[at_ + 1];
        if (std::string_view("QEChH").find(escaped) != std::string_view::npos)
            refuse(from_, std::string("\\") + escaped);
        if (escaped != 's' && (escaped != 'S' || in_brackets_)) return copy(2);
        at_ += 2;
        made_ += in_brackets_ ? kSpaces : (escaped == 's' ? "[" : "[^") + std::string(kSpaces) + "]";
    }

    void insideBrackets() {
        if (rest().front() == '[' || rest().starts_with("&&")) refuse(from_, "a set within a set");
        in_brackets_ = rest().front() != ']';
        copy(1);
    }

    /// PCRE2's verbs (*LIMIT_MATCH=1), (*CRLF), (*SKIP) … and its callouts (?C1) change how the whole
    /// expression works; other libraries have no such thing. (?m) lets a point match line ends elsewhere, and
    /// a{,2} is there a{0,2}.
    void outsideBrackets() {
        for (const char* const other : {"(*", "(?C", "{,"})
            if (rest().starts_with(other)) refuse(from_, std::string("\"") + other + "\"");
        if (rest().starts_with("(?")) {
            const std::size_t flags_end = rest().find_first_not_of("imsx-", 2);
            if (rest().substr(0, flags_end).find('m') != std::string_view::npos) refuse(from_, "\"(?m\"");
        }
        in_brackets_ = rest().front() == '[';
        for (const std::string_view first : {"[^]", "[]"})  // a bracket that stands first is a member
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

std::string asPcre2(const std::string& expression) {
    return Translation(expression).written();
}

std::string quotedPattern(const std::string& expression) {
    return "the pattern " + quotedBeginning(onOneLine(expression));
}

}  // namespace roper
