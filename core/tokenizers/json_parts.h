#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "core/tokenizers/tokenizer.h"

namespace roper {

// Parts of a tokenizer.json. All throw std::invalid_argument naming what is not understood, and
// nlohmann::json::exception for members of another type.

void readNormalizer(const nlohmann::json& json, TokenizerParts& parts);
void readPreTokenizer(const nlohmann::json& json, TokenizerParts& parts);

/// Reads the special tokens around a single text.
void readPostProcessor(const nlohmann::json& json, TokenizerParts& parts);

/// Reads the decoder. Without one, pieces are put together as model and pre-tokenizer suggest.
/// @param parts  with the other parts
void readDecoder(const nlohmann::json& tokenizer, TokenizerParts& parts);

/// The member `model`.
std::unique_ptr<const TokenModel> readTokenModel(const nlohmann::json& model);

}  // namespace roper
