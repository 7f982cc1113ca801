#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/model_config/rotation_reader.h"

// Widths of heads, and how much of a head rotates.

namespace roper {

static void rotateFeatures(int width, RotaryConfig& rotary) {
    rotary.rotary_fraction = static_cast<double>(width) / rotary.head_dim;
}

void RotationReader::readPerLayerConfig() {
    // A copy, so that other settings of a layer still count as unread.
    const ConfigFields config = config_.unreadCopy();
    const auto layers = config.object(kByLayer);
    if (!layers || !type_.is_known) return;
    for (const std::string& key : layers->objectKeys()) {
        const auto layer = parseNumber(key);
        const ConfigFields own = *layers->object(key);
        if (!layer || *layer != std::floor(*layer) || *layer < 0 || *layer >= kMaxConfigLayers)
            layers->refuse(key, "must be the number of a layer, from 0");
        for (const char* member :
             {kParameters, kScaling, "rope_theta", kRotaryFraction, "max_position_embeddings", kTrained,
              "layer_types", "head_dim", "qk_rope_head_dim", "hidden_size", "num_attention_heads"})
            if (own.contains(member)) readPerLayerMember(own, member, static_cast<int>(*layer));
    }
    requireSameWidthPerKind();
}

void RotationReader::readPerLayerMember(const ConfigFields& own, const std::string& member, int layer) {
    if (hasElement(type_.per_layer_keys, member)) {
        if (const auto value = own.integer(member, 2, kMaxConfigHeadDim)) per_layer_[member][layer] = *value;
        return;
    }
    const bool is_width = member == "hidden_size" || member == "num_attention_heads";
    // These models have members of their own for the width of a head.
    if (is_width && !type_.per_layer_keys.empty()) return;
    const bool is_number = own.isNumber(member);
    if (is_number && own.number(member, 0, kMaxTextLength) == number(member, 0, kMaxTextLength)) return;
    own.refuse(member,
               "is set for one layer; models of type " + type_.name + " cannot vary it from layer to layer");
}

void RotationReader::requireSameWidthPerKind() const {
    if (per_layer_.empty()) return;
    const std::vector<std::string> kinds = layerKinds();
    if (kinds.empty())
        config_.refuse("layer_types", std::string("is missing; ") + kByLayer + " cannot be read without it");
    for (const auto& [member, of_layer] : per_layer_) {
        if (of_layer.rbegin()->first >= static_cast<int>(kinds.size()))
            config_.refuse(kByLayer, "names layer " + std::to_string(of_layer.rbegin()->first) +
                                         ", but there are " + std::to_string(kinds.size()) +
                                         " layers, numbered from 0");
        std::map<std::string, std::optional<int>> of_kind;
        for (std::size_t layer = 0; layer < kinds.size(); ++layer) {
            const auto own = of_layer.find(static_cast<int>(layer));
            const auto value = own != of_layer.end() ? std::optional(own->second) : ofAll(member);
            const auto& first = of_kind.emplace(kinds[layer], value).first->second;
            if (first != value)
                config_.refuse(kByLayer, "gives layers of the kind " + kinds[layer] +
                                             " different values of " + member + ", which models of type " +
                                             type_.name + " cannot compute");
        }
    }
}

std::optional<int> RotationReader::byLayer(const std::string& member, const std::string& kind) const {
    const auto own = per_layer_.find(member);
    if (own != per_layer_.end()) {
        const std::vector<std::string> kinds = layerKinds();
        for (const auto& [layer, value] : own->second)
            if (kinds[static_cast<std::size_t>(layer)] == kind) return value;
    }
    return ofAll(member);
}

int RotationReader::headWidth(const ModelType::Kind& kind) const {
    if (!type_.per_layer_keys.empty() && config_.contains(kByLayer))
        if (const auto own = byLayer(type_.per_layer_keys.front(), kind.name)) return *own;
    for (const std::string& key : kind.width_keys)
        if (const auto given = config_.integer(key, 2, kMaxConfigHeadDim)) return *given;
    if (!kind.width_difference.empty()) return widthDifference(kind);
    if (kind.features > 0 && (!kind.width_keys.empty() || type_.width_keys.empty())) return kind.features;
    for (const std::string& key : type_.width_keys)
        for (const std::string& name : namesOf(key))
            if (const auto given = config_.integer(name, 2, kMaxConfigHeadDim)) return *given;
    for (const std::string& key : type_.width_keys)
        if (sizes_ && !config_.contains(key))
            if (const auto usual = sizes_->integer(key, 2, kMaxConfigHeadDim)) return *usual;
    if (type_.width_keys.empty() && sizes_)
        if (const auto fixed = sizes_->integer("head_dim", 2, kMaxConfigHeadDim)) return *fixed;
    return derivedHeadWidth();
}

int RotationReader::widthDifference(const ModelType::Kind& kind) const {
    const auto [all, usual] = kind.width_difference[0];
    const auto [others, usual_others] = kind.width_difference[1];
    const int width = config_.integer(all, 2, kMaxConfigHeadDim).value_or(usual) -
                      config_.integer(others, 0, kMaxConfigHeadDim).value_or(usual_others);
    if (width < 2) config_.refuse(others, "leaves fewer than 2 of a head's features to rotate");
    return width;
}

int RotationReader::derivedHeadWidth() const {
    const auto width = integer("hidden_size", 2, 1 << 24);
    auto heads = integer("num_attention_heads", 1, 1 << 16);
    if (!heads) heads = config_.integer("decoder_num_attention_heads", 1, 1 << 16);
    if (!width || !heads)
        throw Error(ErrorKind::usage,
                    "the head's width is missing: head_dim, or hidden_size and num_attention_heads");
    if (*width < *heads) config_.refuse("hidden_size", "is less than num_attention_heads");
    if (*width % *heads != 0 && !type_.is_known)
        throw Error(ErrorKind::usage, "hidden_size " + std::to_string(*width) +
                                          " is not divisible by num_attention_heads " +
                                          std::to_string(*heads));
    return type_.head_width_factor * *width / *heads;
}

bool RotationReader::countsFeatures() const {
    if (type_.features_key.empty()) return false;
    if (!type_.rotates_last) return true;
    return !is_given_by_kind_ && config_.has(type_.features_key) && !config_.has(kRotaryFraction);
}

void RotationReader::requireEven(const ConfigFields& fields, const std::string& key, int features) const {
    if (type_.requires_even_features && features % 2 != 0)
        fields.refuse(key, "makes an odd number of features rotate, " + std::to_string(features) +
                               ", which models of type " + type_.name + " cannot compute");
}

int RotationReader::countedFeatures(int head_dim) const {
    const std::string& key = type_.features_key;
    const auto features = integer(key, type_.requires_even_features ? 2 : 0, head_dim);
    requireEven(config_, key, features.value_or(0));
    // Frequencies are then those of hidden_size features, not of a head's.
    if (!features && type_.requires_even_features && integer("num_attention_heads", 1, 1 << 16) != 1)
        config_.refuse(key, "must be a number: models of type " + type_.name +
                                " cannot rotate whole heads unless there is only one");
    return features.value_or(head_dim);
}

void RotationReader::readWidth(const Source& source, const std::string& method, RotaryConfig& rotary) {
    const int fixed = type_.features > 0 ? type_.features
                      : countsFeatures() ? countedFeatures(rotary.head_dim)
                                         : 0;
    if (fixed > 0) {
        if (fixed > rotary.head_dim)
            config_.refuse("hidden_size",
                           "makes heads smaller than the " + std::to_string(fixed) + " features that rotate");
        rotateFeatures(fixed + fixed % 2, rotary);
        return;
    }
    rotary.rotary_fraction = 1;
    // DeepSeek V4's class then rotates the whole head.
    if (type_.rotates_last && is_given_by_kind_ && !source.rope->has(kRotaryFraction)) return;
    if (!type_.unrotated_features_key.empty()) return requireAllRotate(source, method, rotary.head_dim);
    const double rotary_fraction =
        method == "proportional" ? 1 : rotaryFraction(source, method, rotary.head_dim);
    // transformers truncates the product, even if it is just below a whole number.
    const double rounding = type_.is_known ? 0 : 1e-9;
    const int features = static_cast<int>(rotary_fraction * rotary.head_dim + rounding);
    requireEven(source.rope && source.rope->has(kRotaryFraction) ? *source.rope : config_, kRotaryFraction,
                features);
    const int width = features + features % 2;
    rotateFeatures(width, rotary);
    if (width != features) rotary.exponent_width = features;
    if (width > rotary.head_dim)
        config_.refuse("head_dim", "must be even, not " + std::to_string(rotary.head_dim));
    if (features % 2 != 0 && (method == "yarn" || method == "longrope"))
        config_.refuse(kRotaryFraction, "makes an odd number of features rotate, " +
                                            std::to_string(features) + ", which " + method + " cannot scale");
}

void RotationReader::requireAllRotate(const Source& source, const std::string& method, int rotating) const {
    if (rotating % 2 != 0)
        config_.refuse("qk_rope_head_dim", "must be even, not " + std::to_string(rotating));
    const int both = rotating + config_.integer(type_.unrotated_features_key, 0, kMaxConfigHeadDim)
                                    .value_or(type_.unrotated_features);
    const int all = config_.integer("head_dim", 2, kMaxConfigHeadDim).value_or(both);
    const bool is_scaling = objectUnlessEmpty(kScaling).has_value();
    auto rotary_fraction = source.is_default ? std::nullopt : source.rope->number(kRotaryFraction, 0, 1);
    if (!rotary_fraction && is_scaling) rotary_fraction = config_.number(kRotaryFraction, 0, 1).value_or(1);
    if (!rotary_fraction) rotary_fraction = static_cast<double>(rotating) / both;
    const int features = isScaled(method) ? static_cast<int>(all * *rotary_fraction) : all;
    if (features == rotating) return;
    const ConfigFields& named = source.rope && !source.is_default ? *source.rope : config_;
    named.refuse(isScaled(method) ? kRotaryFraction : "rope_type",
                 "makes " + std::to_string(features) + " of a head's " + std::to_string(all) +
                     " features rotate, but its queries have " + std::to_string(rotating) +
                     " for rotation: models of type " + type_.name + " cannot compute that");
}

double RotationReader::rotaryFraction(const Source& source, const std::string& method, int head_dim) {
    if (type_.copies_flat) {  // the class replaces the fraction by its own
        if (source.rope) source.rope->number(kRotaryFraction, 0, 1);
        return 1;
    }
    const double usual = source.kind->rotary_fraction.value_or(type_.rotary_fraction);
    const auto given = configuredRotaryFraction(source, head_dim);
    const double rotary_fraction = given.value_or(isScaled(method) && source.is_default ? 1 : usual);
    if (rotary_fraction == 1 || type_.reads_rotary_fraction) {
        if (!given && rotary_fraction != 1)
            note(std::string(kRotaryFraction) + " is missing; the value used is " +
                 formatNumber(rotary_fraction) + ", as in models of type " + type_.name);
        return rotary_fraction;
    }
    if (isScaled(method))
        config_.refuse(kRotaryFraction, "is " + formatNumber(rotary_fraction) + ", which models of type " +
                                            type_.name + " cannot compute with " + method +
                                            ": all features of their heads rotate");
    note(std::string(kRotaryFraction) + " is not read: in models of type " + type_.name +
         " all features of a head rotate");
    return 1;
}

std::optional<double> RotationReader::configuredRotaryFraction(const Source& source, int head_dim) const {
    if (source.rope && !source.is_default)
        if (const auto inside = source.rope->number(kRotaryFraction, 0, 1)) return inside;
    const auto usual =
        source.is_default && source.rope ? source.rope->number(kRotaryFraction, 0, 1) : std::nullopt;
    if (usual && !type_.rotary_fraction_keys_take_precedence) return usual;
    std::vector<std::string> keys = type_.rotary_fraction_keys;
    const bool has_own =
        (type_.is_nested && !(source.is_default && type_.rotary_fraction_keys_take_precedence)) ||
        (type_.is_known && hasElement(keys, "rotary_pct"));
    if (!has_own && !hasElement(keys, kRotaryFraction)) keys.insert(keys.begin(), kRotaryFraction);
    for (const std::string& key : keys) {
        if (key == "rotary_dim") {
            if (const auto width = config_.integer(key, 0, head_dim))
                return static_cast<double>(*width) / head_dim;
            continue;
        }
        if (const auto rotary_fraction = config_.number(key, 0, 1)) return rotary_fraction;
    }
    return usual;
}

}  // namespace roper
