#pragma once

#include <cstdint>
#include <string>

#include "core/inspection/inspector.h"

namespace roper {

/// Answers `head` of docs/control-socket.md for a published model: q, k and v of one head, before rotation,
/// as a safetensors file, so that the pages which explore the head of a run explore this one. What the model
/// does beside rotating, such as a scale of its own, is in q already.
/// @throws Error (usage) for a head that the model lacks, or one that attends in a way that those pages do
/// not know: within a window that is shorter than the text, or with capped scores
std::string answerHead(Inspector& inspector, const std::string& text, std::int64_t layer, std::int64_t head);

}  // namespace roper
