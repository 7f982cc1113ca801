#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/pretrained/gguf_file.h"
#include "core/tokenizers/tokenizer.h"

namespace roper {

/// The tokenizer of a Hugging Face folder: tokenizer.json, and the tokens that tokenizer_config.json or
/// added_tokens.json add, as in transformers 5.24.
/// @throws Error (checkpoint) naming the file, the member and what is not supported; Error (disk)
Tokenizer readTokenizerJson(const FilePath& path);

/// The tokenizer.json of a folder; without one, the vocab.txt of an EsmTokenizer (ESM-2), a token per line:
/// each is found anywhere in a text, and a run of other characters without white space is unknown.
/// @throws Error (checkpoint) like `readTokenizerJson`; Error (disk) if the folder has neither
Tokenizer readFolderTokenizer(const FilePath& folder);
/// Whether the folder has one of these files.
bool hasTokenizer(const FilePath& folder);

/// The same as `readTokenizerJson` from memory; `origin` is its name in errors.
Tokenizer parseTokenizerJson(std::string_view json, const std::string& origin);

/// The tokenizer of ESM-2 from the lines of a vocab.txt; `origin` is its name in errors.
/// @param config  the tokenizer_config.json next to it
Tokenizer parseEsmVocabulary(const std::string& lines, const nlohmann::json& config,
                             const std::string& origin);

/// The tokenizer in a GGUF file: `tokenizer.ggml.model` is gpt2 (with the pattern named by
/// `tokenizer.ggml.pre`), gemma4, llama (SentencePiece's byte pair encoding, by scores), t5 (SentencePiece's
/// unigram model) or bert (WordPiece).
/// @throws Error (checkpoint) naming the file, the entry and what is not supported
Tokenizer tokenizerOf(const GgufMetadata& metadata);

}  // namespace roper
