#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/model/transformer.h"
#include "core/tasks/vocabulary.h"

namespace roper {

/// Continues every prompt with the likeliest next character until `is_complete` says so of what was written
/// or `longest` characters are reached. All prompts go together through one key/value cache.
/// @throws std::invalid_argument if a prompt is empty or has a character outside the vocabulary
std::vector<std::string> completeGreedily(Transformer& model, const Vocabulary& vocabulary,
                                          const std::vector<std::string>& prompts, int longest,
                                          const std::function<bool(std::string_view)>& is_complete);

/// Texts as tokens [B, longest text], right-padded with token 0.
at::Tensor encodePadded(const Vocabulary& vocabulary, const std::vector<std::string>& texts);

}  // namespace roper
