#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "core/reading/answers.h"

namespace roper {

using Metadata = std::map<std::string, std::string>;

/// What answers that are sent as tensors say of the model and its text, for the explorer pages: step, method,
/// the rotation of a layer, sizes, the tokens' texts.
Metadata factsOf(const Asked& asked, std::span<const std::int64_t> ids, std::int64_t layer);

/// Texts as a JSON list. Bytes that are no text by themselves, such as half a letter, become U+FFFD.
std::string listOf(const std::vector<std::string>& texts);

/// Refuses a text that is longer than those that the explorer pages read.
void requireShort(const Asked& asked);

/// Refuses a text whose maps of all heads would not fit into a reply.
void requireRoomForMaps(const Asked& asked, std::int64_t queries, std::int64_t keys);

/// A pass with the attention of the last `queries` queries.
struct Maps {
    at::Tensor attention;  ///< of every head [L, H, queries, T]
    at::Tensor last;       ///< residuals after the final norm [T, C]
};
/// @param also  records what else the pass shows
Maps mapsOf(const Asked& asked, std::span<const std::int64_t> ids, std::int64_t queries,
            PassRecorder also = {});

}  // namespace roper
