#include "core/reading/model_change.h"

#include <stdexcept>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/language_model/decoder.h"

namespace roper {

namespace {

/// @throws Error (usage)
std::int64_t indexOf(const std::string& text, const std::string& ablation) {
    const auto index = parseInteger(text);
    if (!index || *index < 0)
        throw Error(ErrorKind::usage,
                    "an ablation is written 2.1 (layer and head), 2 (a layer) or all, optionally followed by "
                    "pairs of features, as in 2.1:24-31; not \"" +
                        toSingleLine(ablation) + "\"");
    return *index;
}

/// "2.1", "2" or "all". @throws Error (usage)
HeadSelection headsOf(const std::string& text, const std::string& ablation) {
    if (text == "all") return {};
    const std::size_t point = text.find('.');
    HeadSelection heads{indexOf(text.substr(0, point), ablation)};
    if (point != std::string::npos) heads.head = indexOf(text.substr(point + 1), ablation);
    return heads;
}

std::vector<std::int64_t> pairsOf(const std::string& text) {
    const auto pairs = parseIntegers(text);
    if (!pairs)
        throw Error(ErrorKind::usage,
                    "pairs are written 24-31, 5 or 0,1,7, not \"" + toSingleLine(text) + "\"");
    return {pairs->begin(), pairs->end()};
}

void addAblation(const std::string& ablation, Intervention& intervention) {
    const std::size_t colon = ablation.find(':');
    const HeadSelection heads = headsOf(ablation.substr(0, colon), ablation);
    if (colon == std::string::npos)
        intervention.ablated_heads.push_back(heads);
    else
        intervention.ablated_pairs.push_back({heads, pairsOf(ablation.substr(colon + 1))});
}

}  // namespace

std::optional<Scaling> makeScaling(ScalingMethod method, double factor, double trained_length) {
    if (method == ScalingMethod::none) return std::nullopt;
    Scaling scaling;
    scaling.method = method;
    scaling.factor = factor;
    scaling.original_length = trained_length;
    return scaling;
}

double trainedLength(const ModelChange& change, const Architecture& model) {
    return change.original_length > 0 ? change.original_length : static_cast<double>(model.context);
}

void requireValidSelection(const HeadSelection& chosen, const Architecture& model) {
    try {
        requireValidHeads(chosen, model);
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::usage, error.what());
    }
}

Intervention makeIntervention(const ModelChange& change, const Architecture& model) {
    Intervention intervention;
    const HeadSelection chosen{change.layer, change.head};
    const bool rotates_either = model.rotatesValues() || model.rotatesOutputs();
    if ((change.no_value_rotation && !model.rotatesValues()) || (change.no_inverse && !rotates_either))
        throw Error(ErrorKind::usage,
                    "this model rotates no values; only RoPER's values and outputs can be left unrotated");
    if (change.no_inverse && !model.rotatesOutputs())
        throw Error(ErrorKind::usage, "this model rotates no outputs, so none can be left unrotated");
    if (!change.ablate.empty())
        for (const std::string& ablation : split(change.ablate, ';'))
            addAblation(ablation, intervention);
    if (!change.mute.empty()) intervention.ablated_pairs.push_back({chosen, pairsOf(change.mute)});
    if (change.mute_heads) intervention.ablated_heads.push_back(chosen);
    if (change.no_rotation) intervention.unrotated.push_back(chosen);
    if (change.no_value_rotation) intervention.unrotated_value_heads.push_back(chosen);
    if (change.no_inverse) intervention.uninverted_heads.push_back(chosen);
    intervention.shift = change.shift;
    if (change.base != 0 && change.base <= 1)
        throw Error(ErrorKind::usage, "a base must be above 1, not " + formatNumber(change.base));
    if (change.base != 0) intervention.base = change.base;
    if (change.scaling == ScalingMethod::longrope)
        throw Error(ErrorKind::usage,
                    "longrope needs a factor for each pair, which only `eval --long-factors` takes");
    intervention.scaling = makeScaling(change.scaling, change.factor, trainedLength(change, model));
    return intervention;
}

}  // namespace roper
