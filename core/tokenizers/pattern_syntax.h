#pragma once

#include <string>

namespace roper {

/// The expression as PCRE2 must be given it to mean what Hugging Face's tokenizers mean.
/// @throws std::invalid_argument for what PCRE2 would take for something else
std::string asPcre2(const std::string& expression);

/// How an error quotes an expression.
std::string quotedPattern(const std::string& expression);

}  // namespace roper
