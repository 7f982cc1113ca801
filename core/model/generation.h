#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/model/transformer.h"
#include "core/tasks/vocabulary.h"

namespace roper {

/// Options for continuing a prompt.
struct GenerationOptions {
    int max_tokens = 0;  ///< maximal number of generated tokens
    /// whether the text so far is complete, which ends generation
    std::function<bool(std::string_view)> is_complete;
    double temperature = 0;  ///< 0: greedy; otherwise tokens are sampled from softmax(logits/temperature)
    /// seed of the sampling; prompt b has its own generator, (seed, first_prompt + b)
    std::uint64_t seed = 0;
    std::size_t first_prompt = 0;
};

/// A generated continuation.
struct Completion {
    std::string text;
    std::vector<std::int64_t> tokens;
};

/// Continues all prompts together with one key/value cache. The result for a prompt does not depend on the
/// others; completed ones leave the batch.
/// @throws std::invalid_argument if a prompt is empty or has a character outside the vocabulary
std::vector<Completion> generate(Transformer& model, const Vocabulary& vocabulary,
                                 const std::vector<std::string>& prompts, const GenerationOptions& options);
std::vector<Completion> generate(Transformer& model, const Vocabulary& vocabulary,
                                 const std::vector<std::vector<std::int64_t>>& prompts,
                                 const GenerationOptions& options);

/// Lists of tokens as one tensor [B, longest list], right-padded with token 0.
at::Tensor padRight(const std::vector<std::vector<std::int64_t>>& lists);

/// Texts as tokens [B, longest text], right-padded with token 0.
at::Tensor encodePadded(const Vocabulary& vocabulary, const std::vector<std::string>& texts);

}  // namespace roper
