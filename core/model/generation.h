#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/model/transformer.h"
#include "core/tasks/vocabulary.h"

namespace roper {

/// How a model continues a prompt.
struct GenerationOptions {
    int max_tokens = 0;                                 ///< generated at most
    std::function<bool(std::string_view)> is_complete;  ///< of the text so far: no more is needed
    double temperature = 0;  ///< 0 takes the likeliest token; else one drawn from softmax(logits/temperature)
    std::uint64_t seed = 0;  ///< of the draws; prompt b has a generator of its own, (seed, first_prompt + b)
    std::size_t first_prompt = 0;
};

/// What a model generated after a prompt.
struct Completion {
    std::string text;
    std::vector<std::int64_t> tokens;
};

/// Continues every prompt, all together through one key/value cache. What a prompt gets does not depend on
/// the others; those that are complete leave the batch.
/// @throws std::invalid_argument if a prompt is empty or has a character outside the vocabulary
std::vector<Completion> generate(Transformer& model, const Vocabulary& vocabulary,
                                 const std::vector<std::string>& prompts, const GenerationOptions& options);
std::vector<Completion> generate(Transformer& model, const Vocabulary& vocabulary,
                                 const std::vector<std::vector<std::int64_t>>& prompts,
                                 const GenerationOptions& options);

/// Lists of tokens as one tensor [B, longest list], right-padded with token 0.
at::Tensor padded(const std::vector<std::vector<std::int64_t>>& lists);

/// Texts as tokens [B, longest text], right-padded with token 0.
at::Tensor encodePadded(const Vocabulary& vocabulary, const std::vector<std::string>& texts);

}  // namespace roper
