#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/pretrained/family.h"
#include "core/pretrained/feature_reading.h"
#include "core/pretrained/gguf_entries.h"
#include "core/pretrained/gguf_rotation.h"

namespace roper {
namespace {

constexpr const char* kArchitecture = "general.architecture";
constexpr const char *kWindow = "attention.sliding_window", *kCausal = "attention.causal";

std::int64_t vocabularySize(const GgufEntries& entries) {
    if (const auto* const tokens = entries.metadata().texts("tokenizer.ggml.tokens"))
        return static_cast<std::int64_t>(tokens->size());
    return entries.required("vocab_size", kMaxVocabulary);
}

std::vector<bool> windowedByPattern(std::int64_t pattern, const Architecture& model) {
    const bool is_counted_from_first =
        findFamily(model.family)->config_rules.windowed == WindowedLayers::all_but_every_nth_from_first;
    std::vector<bool> windowed;
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        windowed.push_back(pattern == 0 || (layer + (is_counted_from_first ? 0 : 1)) % pattern != 0);
    return windowed;
}

/// Which layers use sliding-window attention: the file holds a flag for each layer, or n if every n-th layer
/// attends to all tokens.
std::vector<bool> windowedLayers(const GgufEntries& entries, const GgufRules& rules,
                                 const Architecture& model) {
    constexpr const char* kPattern = "attention.sliding_window_pattern";
    const auto& all = entries.metadata().entries();
    const auto found = all.find(entries.key(kPattern));
    if (found == all.end()) {
        if (rules.window_pattern) return windowedByPattern(*rules.window_pattern, model);
        entries.refuse(kWindow, "is " + std::to_string(model.window) + ", but " + entries.key(kPattern) +
                                    " does not say which layers attend within it");
    }
    if (std::holds_alternative<std::int64_t>(found->second))
        return windowedByPattern(entries.integer(kPattern, 0, kMaxLayers, 0), model);
    const std::vector<bool> windowed = *entries.metadata().flags(entries.key(kPattern));
    if (windowed.size() != static_cast<std::size_t>(model.layers))
        entries.refuse(kPattern, "has " + std::to_string(windowed.size()) + " flags for " +
                                     std::to_string(model.layers) + " layers");
    return windowed;
}

/// Whether llama.cpp computes the architecture as an encoder.
bool isEncoder(const GgufEntries& entries, const Architecture& model) {
    return model.predicts_masked || entries.architecture() == findFamily(model.family)->gguf_embedding;
}

/// Whether queries attend to preceding keys alone. Files of encoders must say that they do not; llama.cpp
/// reads embedding models as if they said so.
bool isCausal(const GgufEntries& entries, const Architecture& model) {
    const bool is_causal = entries.flag(kCausal, true);
    if (!model.predicts_masked) return is_causal && !isEncoder(entries, model);
    if (is_causal) entries.refuse(kCausal, "must be false: this model is an encoder");
    return false;
}

void readGgufWindow(const GgufEntries& entries, const GgufRules& rules, Architecture& model) {
    model.window = entries.integer(kWindow, 0, 1 << 30, rules.chunk > 0 ? rules.chunk : rules.window);
    model.chunked = rules.chunk > 0;
    if (model.chunked && model.window != 0 && model.window != rules.chunk)
        entries.refuse(kWindow, "is " + std::to_string(model.window) + "; chunks in this family have " +
                                    std::to_string(rules.chunk) + " tokens, as in llama.cpp");
    if (model.window == 0) return;
    if (isEncoder(entries, model))
        model.window = model.window / 2 + 1;  // half on either side, as in llama.cpp
    else if (!model.causal)
        entries.refuse(kWindow, "is " + std::to_string(model.window) + " in a model whose " +
                                    entries.key(kCausal) + " is false, which is not supported");
    model.windowed = windowedLayers(entries, rules, model);
}

/// Reads the scale and the soft caps of scores and logits.
void readGgufScores(const GgufEntries& entries, const Family& family, Architecture& model) {
    if (family.score_cap)
        model.score_softcap = entries.number("attn_logit_softcapping", 0, 1e6, *family.score_cap);
    if (family.logit_cap)
        model.logit_softcap = entries.number("final_logit_softcapping", 0, 1e6, *family.logit_cap);
    if (model.layers == family.gguf_rules.layers_scored_by_width)
        model.score_scale = 1 / std::sqrt(static_cast<double>(model.width / model.heads));
}

void readGgufScales(const GgufEntries& entries, const Family& family, Architecture& model) {
    const GgufRules& rules = family.gguf_rules;
    constexpr double kMaxFactor = 1e6;
    if (rules.has_scales) {
        model.embedding_scale = entries.number("embedding_scale", -kMaxFactor, kMaxFactor, 1);
        model.residual_scale = entries.number("residual_scale", -kMaxFactor, kMaxFactor, 1);
        model.score_scale = entries.number("attention.scale", 0, kMaxFactor, 0);
        model.logit_scale = 1 / entries.number("logit_scale", 1 / kMaxFactor, kMaxFactor, 1);
    }
    if (rules.has_fixed_scales) {
        const ConfigRules& fixed = family.config_rules;
        model.embedding_scale = fixed.embedding_scale.default_value;
        model.residual_scale =
            fixed.residual_depth_scale.default_value / std::sqrt(static_cast<double>(model.layers));
        model.logit_scale = fixed.logit_width.default_value / static_cast<double>(model.width);
    }
    if (rules.has_logit_scale) model.logit_scale = entries.number("logit_scale", -kMaxFactor, kMaxFactor, 1);
    if (family.queries_grow) {
        model.query_growth = entries.number("attention.temperature_scale", 0, kMaxFactor, 0);
        if (model.query_growth > 0)
            model.query_growth_length =
                static_cast<double>(entries.required("rope.scaling.original_context_length", 1 << 30));
    }
    if (rules.has_clip) model.clip = entries.number("attention.clamp_kqv", 0, kMaxFactor, 0);
}

/// llama.cpp requires this of some families.
void requireWholeHeadsRotate(const GgufEntries& entries, const Architecture& model) {
    if (model.rotations.front().rotatedWidth() != model.head_dim)
        entries.refuse("rope.dimension_count", "is " +
                                                   std::to_string(model.rotations.front().rotatedWidth()) +
                                                   "; heads of this family must rotate all their " +
                                                   std::to_string(model.head_dim) + " features");
}

/// Layers without key/value heads compute `without_heads` instead of attention.
void readGgufMixers(Mixer without_heads, Architecture& model) {
    std::vector<Mixer> mixers;
    for (const std::int64_t heads : model.key_value_heads_of_layer)
        mixers.push_back(heads > 0 ? Mixer::attention : without_heads);
    if (!mixers.empty()) setMixers(mixers, model);
}

std::int64_t largest(const std::vector<std::int64_t>& numbers) {
    return *std::max_element(numbers.begin(), numbers.end());
}

void readKeyValueHeads(const GgufEntries& entries, const GgufRules& rules, Architecture& model) {
    constexpr const char* kHeads = "attention.head_count_kv";
    if (rules.has_sizes_by_layer)
        model.key_value_heads_of_layer =
            entries.differingByLayer(kHeads, rules.without_heads ? 0 : 1, kMaxHeads);
    std::vector<std::int64_t> all = model.key_value_heads_of_layer;
    if (all.empty()) all = {entries.integer(kHeads, 1, kMaxHeads, model.heads)};
    model.key_value_heads = largest(all);
    for (const std::int64_t heads : all)
        if (heads > 0 && model.heads % heads != 0)
            entries.refuse(kHeads, "must divide attention.head_count, " + std::to_string(model.heads));
}

void readSizes(const GgufEntries& entries, const Family& family, Architecture& model) {
    model.vocabulary = vocabularySize(entries);
    model.width = entries.required("embedding_length", kMaxWidth);
    model.layers = entries.required("block_count", kMaxLayers);
    if (family.has_mtp_layers)
        model.layers -= entries.integer("nextn_predict_layers", 0, model.layers - 1, 0);
    model.heads = entries.required("attention.head_count", kMaxHeads);
    readKeyValueHeads(entries, family.gguf_rules, model);
    // If all layers are mixtures, the file may lack the width of dense ones.
    constexpr const char *kWidth = "feed_forward_length", *kOfExperts = "expert_feed_forward_length";
    if (family.gguf_rules.has_sizes_by_layer)
        model.feed_forward_of_layer = entries.differingByLayer(kWidth, 1, kMaxFeedForward);
    if (model.feed_forward_of_layer.empty())
        model.feed_forward = entries.required(
            !entries.has(kWidth) && entries.has(kOfExperts) ? kOfExperts : kWidth, kMaxFeedForward);
    else
        model.feed_forward = largest(model.feed_forward_of_layer);
    model.context = entries.integer("context_length", 1, 1 << 30, 2048);
}

/// Widths of a head's keys and values, in models without latent attention.
void readHeadWidths(const GgufEntries& entries, Architecture& model) {
    model.head_dim = entries.integer("attention.key_length", 1, kMaxHeadDim, model.width / model.heads);
    if (entries.integer("attention.value_length", 1, kMaxHeadDim, model.head_dim) != model.head_dim)
        entries.refuse("attention.value_length", "differs from attention.key_length, which is not supported");
}

/// Whether router scores are sigmoids. If the file does not say, llama.cpp's rule applies: they are in models
/// of the size of GLM 4.7 Flash.
bool routesBySigmoid(const GgufEntries& entries) {
    constexpr std::int64_t kSigmoid = 2, kGlmVocabulary = 154880;
    const std::int64_t scores = entries.integer("expert_gating_func", 0, 1 << 10, 0);
    if (scores != 0) return scores == kSigmoid;
    const std::int64_t layers = entries.required("block_count", kMaxLayers) -
                                entries.integer("nextn_predict_layers", 0, kMaxLayers, 0);
    return (layers == 47 || layers == 48) && vocabularySize(entries) == kGlmVocabulary;
}

const Family& familyOf(const GgufMetadata& metadata) {
    const auto name = metadata.text(kArchitecture);
    if (!name) metadata.refuse(kArchitecture, "is missing");
    if (const Family* const family = findGgufFamily(*name)) {
        const GgufEntries entries(metadata, *name);
        const GgufRules& rules = family->gguf_rules;
        const bool has_experts = entries.integer("expert_count", 0, kMaxExperts, 0) > 0;
        if (rules.with_experts != nullptr && has_experts) return *findFamily(rules.with_experts);
        if (rules.without_experts != nullptr && !has_experts) return *findFamily(rules.without_experts);
        if (rules.with_sigmoid != nullptr && routesBySigmoid(entries)) return *findFamily(rules.with_sigmoid);
        return *family;
    }
    std::vector<std::string> known;
    for (const Family& one : families())
        for (const char* const known_name : {one.gguf, one.gguf_embedding})
            if (!one.trained_here && *known_name != '\0' && !hasElement(known, known_name))
                known.emplace_back(known_name);
    metadata.refuse(kArchitecture, "is \"" + toSingleLine(*name) +
                                       "\", a family that is not supported; the supported families are " +
                                       join(known, ", "));
}

}  // namespace

ParsedArchitecture readGgufArchitecture(const GgufMetadata& metadata) {
    const Family& family = familyOf(metadata);
    const GgufEntries entries(metadata, *metadata.text(kArchitecture));
    if (const std::string kind = metadata.text("general.type").value_or("model"); kind != "model")
        metadata.refuse("general.type",
                        "is \"" + toSingleLine(kind) + "\": this file is not a complete model");
    ParsedArchitecture parsed;
    Architecture& model = parsed.architecture;
    model.family = family.model_type;
    readSizes(entries, family, model);
    if (family.config_rules.latent.rank > 0)
        readGgufLatentAttention(entries, model);
    else
        readHeadWidths(entries, model);
    family.describe(model);
    model.norm_adds_one = false;  // the converter has added it to the weights
    const char* const usual_epsilon =
        model.norm == NormKind::rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon";
    const char* const own_epsilon = family.gguf_rules.epsilon_key;
    model.norm_epsilon = entries.requiredNumber(own_epsilon != nullptr ? own_epsilon : usual_epsilon, 0, 1);
    model.causal = isCausal(entries, model);
    if (family.parallel_flag != nullptr)
        model.parallel = entries.flag(family.parallel_flag, family.parallel_by_default);
    model.shares_norm = model.shares_norm && model.parallel;
    readGgufMixture(entries, family, model);
    if (family.gguf_rules.experts_without_norms > 0 &&
        model.mixture.experts == family.gguf_rules.experts_without_norms)
        model.query_key_norms = QueryKeyNorms::none;
    readGgufScores(entries, family, model);
    readGgufScales(entries, family, model);
    if (family.gguf_rules.read != nullptr) family.gguf_rules.read(entries, model);
    readGgufWindow(entries, family.gguf_rules, model);
    readGgufRotations(entries, family.gguf_rules, model);
    if (family.gguf_rules.without_heads) readGgufMixers(*family.gguf_rules.without_heads, model);
    if (family.gguf_rules.read_layers != nullptr) family.gguf_rules.read_layers(entries, model);
    if (family.gguf_rules.requires_full_rotation) requireWholeHeadsRotate(entries, model);
    parsed.biases = family.gguf_rules.biases;
    parsed.notes = checkKeys(entries);
    if (auto note = noteOfUnusedScaling(entries)) parsed.notes.push_back(std::move(*note));
    if (!model.causal && !model.predicts_masked) parsed.notes.emplace_back(kNoLossNote);
    return parsed;
}

}  // namespace roper
