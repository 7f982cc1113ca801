#pragma once

#include "core/language_model/intervention.h"
#include "core/pretrained/architecture.h"
#include "core/questions/question.h"

namespace roper {

/// @throws Error (usage) for a layer or head that does not exist
void requireValidSelection(const HeadSelection& chosen, const Architecture& model);

/// Translates a change into an intervention on a model.
/// @throws Error (usage) for pairs that are not a list of numbers, a rotation that the model lacks, and
/// longrope, whose factors a change does not contain
Intervention makeIntervention(const ModelChange& change, const Architecture& model);

/// A scaling by one factor; empty for `none`, which leaves the model's own scaling in place.
std::optional<Scaling> makeScaling(ScalingMethod method, double factor, double trained_length);

/// Context length of training in tokens: from the change if set, otherwise from the model.
double trainedLength(const ModelChange& change, const Architecture& model);

}  // namespace roper
