#pragma once

#include "core/control/messages.h"
#include "core/model/transformer.h"
#include "core/specification/specification.h"
#include "core/tasks/task.h"

namespace roper {

/// The model to be looked into, and what it was made from.
struct Probed {
    Transformer& model;
    const Task& task;
    const Specification& specification;
    std::int64_t step;
};

/// Answers a question about a model with a safetensors file (docs/control-socket.md). T characters of the
/// text, L layers, H heads, d features of a head, N tokens generated, C candidates of each.
///
/// `head`:     "q", "k", "v" [T, d] of one head, as the layer makes them before any rotation
/// `maps`:     "attention" [L, H, T, T], "norms" [4, L, H, d/2] (`Transformer::inside`)
/// `continue`: "attention" [L, H, N, T + N] of the query that each written character came from, "probability"
///             [N] of the generated tokens, "top_token" and "top_probability" [N, C]
///
/// All hold "tokens" of the whole text, and metadata that say what the model is.
/// @throws std::invalid_argument for an empty or too long text, an unknown character, layer or head
Reply answerProbe(const Probed& probed, const Request& request);

}  // namespace roper
