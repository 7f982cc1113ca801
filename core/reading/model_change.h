#pragma once

#include "core/language_model/intervention.h"
#include "core/pretrained/architecture.h"
#include "core/questions/question.h"

namespace roper {

/// @throws Error (usage) for a layer or head that the model does not have
void requireHeads(const HeadChoice& chosen, const Architecture& model);

/// What a change means for a model.
/// @throws Error (usage) for pairs that are no list of numbers, a rotation that the model does not have, and
/// longrope, whose factors a change does not hold
Intervention interventionOf(const ModelChange& change, const Architecture& model);

/// A scaling by one factor; nothing for `none`: a model keeps a scaling of its own.
std::optional<Scaling> scalingOf(ScalingMethod method, double factor, double trained_length);

/// Tokens of the texts that a model was trained on: what the change says, otherwise what the model does.
double trainedLength(const ModelChange& change, const Architecture& model);

}  // namespace roper
