#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/pretrained/gguf_file.h"
#include "core/tokenizers/tokenizer.h"

namespace roper {

/// The tokenizer of a Hugging Face folder: its tokenizer.json, byte pair encoding alone, with the tokens that
/// tokenizer_config.json or added_tokens.json beside it add, as transformers 5.24 adds them.
/// @throws Error (checkpoint) naming the file, the member and what is not understood; Error (disk)
Tokenizer readTokenizerJson(const FilePath& path);

/// The same from memory; `origin` names it in errors.
Tokenizer parseTokenizerJson(std::string_view json, const std::string& origin);

/// The tokenizer inside a GGUF file: `tokenizer.ggml.model` gpt2 (with the pattern that `tokenizer.ggml.pre`
/// names) or llama (SentencePiece's vocabulary with scores).
/// @throws Error (checkpoint) naming the file, the entry and what is not understood
Tokenizer tokenizerOf(const GgufMetadata& metadata);

/// Names of patterns that `tokenizer.ggml.pre` may have.
std::vector<std::string> knownPatterns();

}  // namespace roper
