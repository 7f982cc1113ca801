#pragma once

#include "core/control/messages.h"
#include "core/model/transformer.h"
#include "core/tasks/vocabulary.h"

namespace roper {

/// The longest text that a model is asked to read.
inline constexpr std::size_t kLongestProbe = 4096;

/// Answers `Command::head`: a safetensors file with "q", "k" and "v" [T, d] of the asked layer and head, as
/// the layer makes them before any rotation, and "tokens" [T]. Its metadata say how the model goes on: step,
/// position, pairing, schedule, base, rotary_fraction, value_rotary_fraction, layers, heads.
/// @throws std::invalid_argument for an empty or too long text, an unknown character, layer or head
Reply answerHead(Transformer& model, const Vocabulary& vocabulary, const Specification& specification,
                 std::int64_t step, const Request& request);

}  // namespace roper
