#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// How models of some `tokenizer.ggml.pre` split texts into words.
struct KnownPattern {
    std::string_view names;                ///< that share these rules, separated by blanks
    std::vector<std::string> expressions;  ///< applied in order
    bool ignore_merges = false;            ///< Bpe::ignore_merges
    /// A text begins with the model's first token, if the file does not say otherwise.
    bool begins_with_mark = false;
    /// Pieces are written as in GPT-2: every byte as a character. Otherwise blanks are written as "▁".
    bool byte_level = true;
};

/// By one of the names; null if it is not known.
const KnownPattern* knownPattern(const std::string& name);

/// Supported values of `tokenizer.ggml.pre`, sorted.
std::vector<std::string> supportedPreTokenizers();

}  // namespace roper
