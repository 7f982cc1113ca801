#pragma once

#include <string>

namespace roper {

/// Rewrites an expression for PCRE2 so that it means what Hugging Face's tokenizers mean by it.
/// @throws std::invalid_argument for syntax that PCRE2 would understand differently
std::string toPcre2(const std::string& expression);

/// The expression, quoted for an error message.
std::string quotedPattern(const std::string& expression);

}  // namespace roper
