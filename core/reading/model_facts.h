#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "core/reading/answers.h"

namespace roper {

using Metadata = std::map<std::string, std::string>;

/// Whether the model's score biases equal those of the position method "alibi", which explorer pages draw.
bool isUsualAlibi(const Architecture& model);

/// Metadata of answers sent as tensors, for the explorer pages: step, method, rotation of a layer, sizes, the
/// tokens' texts.
Metadata answerMetadata(const QuestionContext& context, std::span<const std::int64_t> ids,
                        std::int64_t layer);

/// Texts as a JSON list. Bytes that are not valid UTF-8 by themselves, such as half a character, become
/// U+FFFD.
std::string jsonList(const std::vector<std::string>& texts);

/// Refuses texts longer than the explorer pages support.
void requireTextLengthLimit(const QuestionContext& context);

/// Refuses texts for which the maps of all heads would exceed the maximal size of a reply.
void requireMapsFitReply(const QuestionContext& context, std::int64_t queries, std::int64_t keys);

/// Results of a pass: the attention of the last `queries` queries, and the hidden states.
struct AttentionMaps {
    at::Tensor attention;     ///< of all heads [L, H, queries, T]
    at::Tensor final_hidden;  ///< hidden states after the final norm [T, C]
};
/// @param recorder  callbacks for the other activations
AttentionMaps computeAttentionMaps(const QuestionContext& context, std::span<const std::int64_t> ids,
                                   std::int64_t queries, ForwardHooks recorder = {});

}  // namespace roper
