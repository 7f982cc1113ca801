#include "core/tokenizers/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <stdexcept>

namespace roper {
namespace {

constexpr const char* kSpaces = R"(\t-\r\x{85}\p{Z})";  // White_Space, within brackets

/// PCRE2's own \s takes U+180E for a space, which Unicode no longer does. What other libraries mean
/// otherwise, sets within sets, is refused.
std::string withUnicodeSpaces(const std::string& expression) {
    std::string made;
    bool in_brackets = false;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        const char c = expression[i];
        const std::string_view rest = std::string_view(expression).substr(i);
        if (c == '\\' && i + 1 < expression.size()) {
            const char escaped = expression[++i];
            if (escaped == 's')
                made += in_brackets ? kSpaces : std::string("[") + kSpaces + "]";
            else if (escaped == 'S' && !in_brackets)
                made += std::string("[^") + kSpaces + "]";
            else
                made += {c, escaped};
            continue;
        }
        if (in_brackets && (c == '[' || rest.starts_with("&&")))
            throw std::invalid_argument("the pattern " + expression +
                                        " has a set within a set, which is not read here");
        if (c == '[') {
            in_brackets = true;
            for (const std::string_view first : {"[^]", "[]"})  // a bracket that stands first is a member
                if (rest.starts_with(first)) {
                    made += expression.substr(i, first.size() - 1) + "\\]";
                    i += first.size() - 1;
                    break;
                }
            if (expression[i] == ']') continue;
        }
        if (c == ']') in_brackets = false;
        made += c;
    }
    return made;
}

std::string quoted(std::string_view text) {
    std::string made;
    for (const char c : text) {
        if (std::string_view("\\^$.[]|()?*+{}#- ").find(c) != std::string_view::npos) made += '\\';
        made += c;
    }
    return made;
}

std::string messageOf(int code) {
    std::array<PCRE2_UCHAR, 256> message{};
    ::pcre2_get_error_message(code, message.data(), message.size());
    return reinterpret_cast<const char*>(message.data());
}

/// Steps that one match may take: a pattern that tries everything ends in a message.
constexpr std::uint32_t kMostSteps = 10'000'000;

}  // namespace

struct Pattern::Compiled {
    std::unique_ptr<pcre2_code, decltype(&::pcre2_code_free)> code{nullptr, &::pcre2_code_free};
    std::unique_ptr<pcre2_match_context, decltype(&::pcre2_match_context_free)> limits{
        nullptr, &::pcre2_match_context_free};
};

Pattern::Pattern(const std::string& expression) {
    const std::string translated = withUnicodeSpaces(expression);
    int problem = 0;
    PCRE2_SIZE place = 0;
    auto compiled = std::make_shared<Compiled>();
    compiled->code.reset(::pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                                         PCRE2_UTF | PCRE2_UCP, &problem, &place, nullptr));
    if (!compiled->code)
        throw std::invalid_argument("the pattern " + expression +
                                    " is not understood: " + messageOf(problem));
    ::pcre2_jit_compile(compiled->code.get(), PCRE2_JIT_COMPLETE);  // where there is none, matches are slower
    compiled->limits.reset(::pcre2_match_context_create(nullptr));
    if (!compiled->limits) throw std::bad_alloc();
    ::pcre2_set_match_limit(compiled->limits.get(), kMostSteps);
    compiled_ = std::move(compiled);
}

Pattern Pattern::literal(std::string_view text) {
    return Pattern(quoted(text));
}

void Pattern::forEachMatch(std::string_view text,
                           const std::function<void(std::size_t begin, std::size_t end)>& take) const {
    const std::unique_ptr<pcre2_match_data, decltype(&::pcre2_match_data_free)> match(
        ::pcre2_match_data_create_from_pattern(compiled_->code.get(), nullptr), &::pcre2_match_data_free);
    if (!match) throw std::bad_alloc();
    std::size_t from = 0;
    while (from < text.size()) {
        const int found =
            ::pcre2_match(compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                          PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, match.get(), compiled_->limits.get());
        if (found == PCRE2_ERROR_NOMATCH) return;
        if (found < 0) throw std::invalid_argument("splitting the text failed: " + messageOf(found));
        const PCRE2_SIZE* const bounds = ::pcre2_get_ovector_pointer(match.get());
        take(bounds[0], bounds[1]);
        from = bounds[1];
    }
}

}  // namespace roper
