#include "core/inspection/model_change.h"

#include <stdexcept>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/language_model/decoder.h"

namespace roper {

double trainedLength(const ModelChange& change, const Architecture& model) {
    return change.original_length > 0 ? change.original_length : static_cast<double>(model.context);
}

void requireHeads(const HeadChoice& chosen, const Architecture& model) {
    try {
        requireInside(chosen, model);
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::usage, error.what());
    }
}

Intervention interventionOf(const ModelChange& change, const Architecture& model) {
    Intervention intervention;
    const HeadChoice chosen{change.layer, change.head};
    if ((change.no_value_rotation || change.no_inverse) && model.value_rotations.empty())
        throw Error(ErrorKind::usage,
                    "this model rotates no values; only RoPER's values and outputs can be left unrotated");
    if (!change.mute.empty()) {
        const auto pairs = parseIntegers(change.mute);
        if (!pairs)
            throw Error(ErrorKind::usage, "pairs are written 24-31, 5 or 0,1,7, not \"" + change.mute + "\"");
        intervention.muted_pairs.push_back({chosen, {pairs->begin(), pairs->end()}});
    }
    if (change.mute_heads) intervention.muted_heads.push_back(chosen);
    if (change.no_rotation) intervention.unrotated.push_back(chosen);
    if (change.no_value_rotation) intervention.unrotated_values.push_back(chosen);
    if (change.no_inverse) intervention.not_rotated_back.push_back(chosen);
    intervention.shift = change.shift;
    if (change.base > 0) intervention.base = change.base;
    if (change.scaling == ScalingMethod::longrope)
        throw Error(ErrorKind::usage,
                    "longrope needs a factor for each pair, which only `eval --long-factors` takes");
    if (change.scaling != ScalingMethod::none) {
        Scaling scaling;
        scaling.method = change.scaling;
        scaling.factor = change.factor;
        scaling.original_length = trainedLength(change, model);
        intervention.scaling = scaling;
    }
    return intervention;
}

}  // namespace roper
