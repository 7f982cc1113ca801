#include "core/pretrained/gguf_rotation.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/pretrained/model_weights.h"

namespace roper {
namespace {

constexpr const char *kType = "rope.scaling.type", *kFactor = "rope.scaling.factor",
                     *kOldFactor = "rope.scale_linear", *kAttention = "rope.scaling.attn_factor",
                     *kLength = "rope.scaling.original_context_length",
                     *kBetaFast = "rope.scaling.yarn_beta_fast", *kBetaSlow = "rope.scaling.yarn_beta_slow",
                     *kExtension = "rope.scaling.yarn_ext_factor",
                     *kYarnAttention = "rope.scaling.yarn_attn_factor", *kWidth = "rope.dimension_count",
                     *kLogMultiplier = "rope.scaling.yarn_log_multiplier";

/// Equal but for rounding to float32.
bool agree(double a, double b) {
    constexpr double kTolerance = 1e-5;
    return std::abs(a - b) <= kTolerance * std::abs(b);
}

/// The scaling factor. llama.cpp treats 0 as 1.
double factorOf(const GgufEntries& entries) {
    const char* const key = entries.has(kFactor) ? kFactor : kOldFactor;
    const double factor = entries.number(key, 0, 1e4, 1);
    if (factor == 0) return 1;
    if (factor < 1)
        entries.refuse(key, "is " + formatNumber(factor) + "; only a factor of 1 or more is supported");
    return factor;
}

double originalLength(const GgufEntries& entries) {
    if (entries.has(kLength)) return static_cast<double>(entries.integer(kLength, 1, 1 << 30, 1));
    return static_cast<double>(entries.required("context_length", 1 << 30));
}

/// Refuses entries of YaRN in a file with another scaling method.
void requireNoYarn(const GgufEntries& entries, const std::string& type) {
    const auto passes = [&](const char* key, std::initializer_list<double> neutral) {
        if (!entries.has(key)) return;
        const double given = entries.number(key, -1e9, 1e9, 0);
        for (const double one : neutral)
            if (given == one) return;
        entries.refuse(key, "is " + formatNumber(given) + ", but " + entries.key(kType) + " is " +
                                (type.empty() ? "missing" : "\"" + type + "\"") + ", not \"yarn\"");
    };
    passes(kExtension, {0, -1});
    passes(kYarnAttention, {1});
}

Scaling linear(const GgufEntries& entries, const std::string& type, double factor) {
    requireNoYarn(entries, type);
    if (const double attention = entries.number(kAttention, 1e-6, 1e6, 1); attention != 1)
        entries.refuse(kAttention, "is " + formatNumber(attention) +
                                       "; it is supported only with the scalings yarn and longrope");
    Scaling scaling;
    if (type == "none" || factor == 1) return scaling;
    scaling.method = ScalingMethod::linear;
    scaling.factor = factor;
    return scaling;
}

/// YaRN's factor on cos and sin for the scaling factor s, before attn_factor. As in llama.cpp, it is
/// (0.1·ln s + 1) / (0.1·m·ln s + 1), where m is mscale_all_dim of transformers' configs, whose mscale is 1.
/// In latent attention, mscale equals m unless m is 0.
double yarnAttentionFactor(const GgufEntries& entries, double factor, bool is_latent) {
    const double own = 0.1 * std::log(factor) + 1, multiplier = entries.number(kLogMultiplier, 0, 1e6, 0);
    if (is_latent) return multiplier > 0 ? 1 : own;
    return own / (0.1 * multiplier * std::log(factor) + 1);
}

/// attn_factor multiplies YaRN's own attention factor. The entries named yarn_… are members of transformers'
/// configs, copied by converters.
Scaling yarn(const GgufEntries& entries, double factor, bool is_latent) {
    Scaling scaling;
    scaling.method = ScalingMethod::yarn;
    scaling.factor = factor;
    scaling.original_length = originalLength(entries);
    scaling.beta_fast = entries.number(kBetaFast, 1e-6, 1e6, scaling.beta_fast);
    scaling.beta_slow = entries.number(kBetaSlow, 1e-6, 1e6, scaling.beta_slow);
    if (scaling.beta_fast < scaling.beta_slow)
        entries.refuse(kBetaFast, "is " + formatNumber(scaling.beta_fast) + ", below " +
                                      entries.key(kBetaSlow) + ", " + formatNumber(scaling.beta_slow));
    if (const double extension = entries.number(kExtension, -1e6, 1e6, 1); extension != 1 && extension != -1)
        entries.refuse(kExtension, "is " + formatNumber(extension) + "; only 1 is supported");
    const double own = 0.1 * std::log(factor) + 1, of_yarn = yarnAttentionFactor(entries, factor, is_latent),
                 expected = is_latent ? of_yarn : own;
    if (const double given = entries.number(kYarnAttention, 0, 1e6, expected); !agree(given, expected))
        entries.refuse(kYarnAttention,
                       "is " + formatNumber(given) +
                           "; programs interpret this differently (llama.cpp applies it to Grok "
                           "alone); only " +
                           formatNumber(expected) + ", YaRN's own factor, is supported");
    const double attention = entries.number(kAttention, 1e-6, 1e6, 1);
    if (is_latent && attention != 1)
        entries.refuse(kAttention, "is " + formatNumber(attention) +
                                       "; programs interpret this differently in latent attention; only 1 "
                                       "is supported");
    if (attention != 1 || of_yarn != own) scaling.attention_factor = attention * of_yarn;
    return scaling;
}

/// `readFrequencyFactors` reads LongRoPE's factors.
Scaling longRope(const GgufEntries& entries, double factor) {
    requireNoYarn(entries, "longrope");
    if (factor != 1)
        entries.refuse(entries.has(kFactor) ? kFactor : kOldFactor,
                       "is " + formatNumber(factor) +
                           ", although LongRoPE has a factor for each pair; only 1 is supported");
    Scaling scaling;
    scaling.method = ScalingMethod::longrope;
    scaling.factor = 1;
    scaling.original_length = originalLength(entries);
    scaling.attention_factor = entries.number(kAttention, 1e-6, 1e6, 1);
    return scaling;
}

/// As in llama.cpp, a factor without a type means linear scaling; LongRoPE needs no type if the family has
/// its factors as tensors.
Scaling scalingOf(const GgufEntries& entries, const GgufRules& rules, bool is_latent) {
    const std::string type = entries.text(kType);
    const double factor = factorOf(entries);
    if (type.empty() && rules.has_long_factors) return longRope(entries, factor);
    if (type.empty() || type == "none" || type == "linear") return linear(entries, type, factor);
    if (type == "yarn") return yarn(entries, factor, is_latent);
    if (type == "longrope") return longRope(entries, factor);
    entries.refuse(kType,
                   "is \"" + toSingleLine(type) + "\"; only none, linear, yarn and longrope are supported");
}

/// One positive factor for each pair, shared by all heads.
ComparableVector factorsOf(const TensorStore& store, const char* name, int pairs) {
    const StoredTensor& tensor = store.tensor(name);
    const auto refuse = [&](const std::string& why) { store.refuse(name, tensor, why); };
    if (tensor.shape.size() != 1)
        refuse("is " + tensor.shapeText() + "; it must have one factor for each pair of a head");
    const std::vector<float> factors = readVector(store, {name, tensor.count()});
    for (const float factor : factors)
        if (!std::isfinite(factor) || factor <= 0)
            refuse("contains " + formatNumber(factor) +
                   "; a factor divides a frequency, so it must be above 0");
    if (static_cast<int>(factors.size()) != pairs)
        refuse("has " + std::to_string(factors.size()) + " factors for " + std::to_string(pairs) + " pairs");
    ComparableVector made;
    made = Eigen::Map<const Eigen::VectorXf>(factors.data(), pairs).cast<double>();
    return made;
}

void readLlama3Factors(const TensorStore& store, const Architecture& model, RotaryConfig& rotation) {
    const auto refuse = [&](const std::string& why) {
        store.refuse(kFrequencyFactors, store.tensor(kFrequencyFactors), why);
    };
    if (!findFamily(model.family)->gguf_rules.has_frequency_factors)
        refuse("has no place in a model of the family " + model.family);
    Scaling scaling;
    scaling.method = ScalingMethod::longrope;
    scaling.attention_factor = 1;
    scaling.short_factors = factorsOf(store, kFrequencyFactors, rotation.rotatedWidth() / 2);
    if (rotation.scaling.method == ScalingMethod::linear)
        scaling.short_factors = (scaling.short_factors.array() * rotation.scaling.factor).matrix();
    else if (rotation.scaling.method != ScalingMethod::none)
        refuse("occurs together with a scaling that other entries define, which is not supported");
    scaling.long_factors = scaling.short_factors;
    rotation.scaling = scaling;
}

/// Reads which pairs turn in p-RoPE: the first pairs have the factor 1, and the others, which do not, 10³⁰.
void readProportionalFactors(const TensorStore& store, RotaryConfig& rotation) {
    const int pairs = rotation.rotatedWidth() / 2;
    const ComparableVector factors = factorsOf(store, kFrequencyFactors, pairs);
    int turning = 0;
    while (turning < pairs && factors[turning] == 1)
        ++turning;
    constexpr double kMinUnturned = 1e20;
    if (rotation.scaling.method != ScalingMethod::none ||
        (turning < pairs && factors.tail(pairs - turning).minCoeff() < kMinUnturned))
        store.refuse(kFrequencyFactors, store.tensor(kFrequencyFactors),
                     "has factors other than 1 followed by 1e+30, which is not supported for this family");
    if (turning == pairs) return;
    rotation.scaling.method = ScalingMethod::p_rope;
    rotation.scaling.proportion = (turning + 0.5) / pairs;  // p-RoPE rounds down to whole pairs
}

/// The rotation of windowed layers, whose heads have another width.
void addWindowedRotation(const GgufEntries& entries, double base, Architecture& model) {
    constexpr const char *kHead = "attention.key_length_swa", *kValue = "attention.value_length_swa";
    RotaryConfig rotation = model.rotations.front();
    const std::int64_t width = entries.integer(kHead, 2, kMaxHeadDim, model.head_dim),
                       rotated = entries.integer("rope.dimension_count_swa", 0, width, width);
    if (entries.integer(kValue, 1, kMaxHeadDim, width) != width)
        entries.refuse(kValue, "differs from attention.key_length_swa, which is not supported");
    if (width % 2 != 0 || rotated % 2 != 0) entries.refuse("rope.dimension_count_swa", "must be even");
    rotation.head_dim = static_cast<int>(width);
    rotation.rotary_fraction = static_cast<double>(rotated) / static_cast<double>(width);
    rotation.base = base;
    rotation.scaling = {};
    model.rotations.push_back(rotation);
    model.head_dim = std::max(model.head_dim, width);
    for (std::size_t layer = 0; layer < model.windowed.size(); ++layer)
        model.rotation_of_layer[layer] = model.windowed[layer] ? 1 : 0;
}

}  // namespace

double readGgufScoreFactor(const GgufEntries& entries) {
    const double factor = entries.text(kType) == "none" ? 1 : factorOf(entries);
    return std::pow(entries.number(kLogMultiplier, 0, 1e6, 0) * std::log(factor) + 1, 2);
}

void readGgufRotations(const GgufEntries& entries, const GgufRules& rules, Architecture& model) {
    const auto layers = static_cast<std::size_t>(model.layers);
    RotaryConfig rotation = unrotatedConfig(model.head_dim);
    model.rotation_of_layer.assign(layers, 0);
    if (!findFamily(model.family)->rotates) {
        model.rotations = {rotation};
        return;
    }
    const std::int64_t width = entries.integer(kWidth, 0, model.head_dim, model.head_dim);
    if (width % 2 != 0) entries.refuse(kWidth, "must be even");
    rotation.rotary_fraction = static_cast<double>(width) / static_cast<double>(model.head_dim);
    rotation.base = entries.number("rope.freq_base", 1.0001, 1e15, 10000);
    rotation.scaling = scalingOf(entries, rules, model.latent.isUsed());
    rotation.scaling.truncate = !rules.has_exact_yarn;
    rotation.pairing = rules.interleaves ? Pairing::interleaved : Pairing::half;
    const double base_of_windowed =
        entries.number("rope.freq_base_swa", 1.0001, 1e15, rules.windowed_base.value_or(rotation.base));
    if (rules.rotates_only_windowed && !model.windowed.empty()) rotation.base = base_of_windowed;
    model.rotations = {rotation};
    // A model without chunks rotates in all layers; in llama.cpp its last layer does not.
    const bool has_unrotated = rules.unrotated_every_nth > 0 && (rules.chunk == 0 || model.window > 0);
    if (has_unrotated || (rules.rotates_only_windowed && !model.windowed.empty())) {
        model.rotations.push_back(unrotatedConfig(model.head_dim));
        for (std::size_t layer = 0; layer < layers; ++layer) {
            const auto nth = static_cast<std::int64_t>(layer) + 1;
            const bool rotates =
                rules.rotates_only_windowed ? model.windowed[layer] : nth % rules.unrotated_every_nth != 0;
            model.rotation_of_layer[layer] = rotates ? 0 : 1;
        }
        return;
    }
    if (rules.has_windowed_widths) return addWindowedRotation(entries, base_of_windowed, model);
    const bool scales_only_full_attention =
        rules.scales_only_full_attention || rules.windowed_base.has_value();
    if (model.windowed.empty() || (base_of_windowed == rotation.base && !scales_only_full_attention)) return;
    rotation.base = base_of_windowed;
    if (scales_only_full_attention) rotation.scaling = {};
    model.rotations.push_back(rotation);
    for (std::size_t layer = 0; layer < layers; ++layer)
        model.rotation_of_layer[layer] = model.windowed[layer] ? 1 : 0;
}

std::optional<std::string> noteOfUnusedScaling(const GgufEntries& entries) {
    const double factor = factorOf(entries);
    if (entries.text(kType) != "none" || factor == 1) return std::nullopt;
    return "the entry " + entries.key(kFactor) + " is " + formatNumber(factor) + ", but " +
           entries.key(kType) + " is \"none\": frequencies are not scaled, as in llama.cpp";
}

void readFrequencyFactors(const TensorStore& store, Architecture& model) {
    const GgufRules& rules = findFamily(model.family)->gguf_rules;
    for (RotaryConfig& rotation : model.rotations) {
        if (rotation.scaling.method == ScalingMethod::longrope && rules.has_long_factors &&
            !store.has(kShortFactors) && !store.has(kLongFactors))
            rotation.scaling = {};
        if (rotation.scaling.method == ScalingMethod::longrope) {
            for (const char* const name : {kShortFactors, kLongFactors})
                if (!store.has(name))
                    throw Error(ErrorKind::checkpoint, store.pathOfFile(0) + ": " + kType +
                                                           " is \"longrope\", but the tensor " + name +
                                                           ", which contains its factors, is missing");
            rotation.scaling.short_factors = factorsOf(store, kShortFactors, rotation.rotatedWidth() / 2);
            rotation.scaling.long_factors = factorsOf(store, kLongFactors, rotation.rotatedWidth() / 2);
        }
        const bool has_factors = store.has(kFrequencyFactors) && rotation.rotatedWidth() > 0;
        if (rules.has_proportional_factors) {
            // The first rotation is that of full attention.
            if (has_factors && &rotation == &model.rotations.front())
                readProportionalFactors(store, rotation);
        } else if (has_factors) {
            readLlama3Factors(store, model, rotation);
        }
    }
}

}  // namespace roper
