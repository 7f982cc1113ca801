#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "core/base/text.h"
#include "core/model_config/config_fields.h"
#include "core/model_config/model_type.h"
#include "core/model_config/rotation_reading.h"
#include "core/pretrained/composite.h"
#include "core/pretrained/family.h"
#include "core/pretrained/feature_reading.h"
#include "core/pretrained/quantized_folder.h"

namespace roper {
namespace {

/// Reads sizes from a config.json. A missing size has the default of the class, which is noted.
class SizeReader {
  public:
    SizeReader(const ConfigFields& config, const std::string& model_type, std::vector<std::string>& notes)
        : config_(config), defaults_(findModelType(model_type).sizes), notes_(notes) {}

    /// A size by the family's `own` name, if not null, or else by those of most configs.
    int required(const char* own, std::initializer_list<const char*> usual, std::int64_t max_value) const {
        const int max = static_cast<int>(max_value);
        if (own != nullptr)
            if (const auto found = config_.integer(own, 1, max)) return *found;
        if (const auto found = config_.firstInteger(usual, 1, max)) return *found;
        const char* const name = own != nullptr ? own : *usual.begin();
        if (const auto value = defaultOf(name, *usual.begin(), max)) return *value;
        config_.refuse(name, "is missing");
    }

    /// The default of the class, unless the config contains the member, even as null.
    /// @param key  its name in `ModelType::sizes`
    std::optional<int> defaultOf(const char* name, const char* key, int max_value) const {
        if (config_.contains(name) || !defaults_) return std::nullopt;
        const auto value = defaults_->integer(key, 1, max_value);
        if (value)
            notes_.push_back(config_.nameOf(name) + " is missing; the value used is " +
                             std::to_string(*value));
        return value;
    }

  private:
    const ConfigFields& config_;
    std::optional<ConfigFields> defaults_;
    std::vector<std::string>& notes_;
};

std::optional<int> sizeOf(const ConfigFields& config, const char* own,
                          std::initializer_list<const char*> usual, std::int64_t max_value) {
    return own != nullptr ? config.integer(own, 1, static_cast<int>(max_value))
                          : config.firstInteger(usual, 1, static_cast<int>(max_value));
}

Activation activationOf(const ConfigFields& config, const char* key, Activation default_value) {
    static const std::vector<std::pair<std::string, Activation>> kKnown = {
        {"silu", Activation::silu},           {"swish", Activation::silu},
        {"gelu", Activation::gelu},           {"gelu_new", Activation::gelu_tanh},
        {"gelu_fast", Activation::gelu_tanh}, {"gelu_pytorch_tanh", Activation::gelu_tanh},
        {"relu", Activation::relu},           {"relu2", Activation::relu_squared},
        {"xielu", Activation::xielu}};
    const auto name = config.text(key);
    if (!name) return default_value;
    for (const auto& [known, activation] : kKnown)
        if (*name == known) return activation;
    config.refuse(key, "\"" + toSingleLine(*name) + "\" is unknown; " +
                           nameHint(*name, mapped(kKnown, &std::pair<std::string, Activation>::first)));
}

/// The width of every layer's feed-forward.
void readFeedForwardByLayer(const ConfigFields& config, const char* key, Architecture& model) {
    const auto widths = config.integers(key, 1, static_cast<int>(kMaxFeedForward), kMaxLayers);
    config.requireOnePerLayer(key, widths->size(), model.layers);
    model.feed_forward_of_layer.assign(widths->begin(), widths->end());
    model.feed_forward =
        *std::max_element(model.feed_forward_of_layer.begin(), model.feed_forward_of_layer.end());
}

void readSizes(const ConfigFields& config, const Family& family, ParsedArchitecture& parsed) {
    Architecture& model = parsed.architecture;
    const ConfigRules& rules = family.config_rules;
    const SizeReader sizes(config, family.model_type, parsed.notes);
    model.vocabulary = sizes.required(nullptr, {"vocab_size"}, kMaxVocabulary);
    const SizeNames& own = rules.sizes;
    model.width = sizes.required(own.width, {"hidden_size", "n_embd"}, kMaxWidth);
    model.layers =
        sizes.required(own.layers, {"num_hidden_layers", "n_layer"}, kMaxLayers) * own.attentions_of_layer;
    model.heads = sizes.required(own.heads, {"num_attention_heads", "n_head"}, kMaxHeads);
    constexpr const char* kKeyValueHeads = "num_key_value_heads";
    constexpr int kMaxKeyValueHeads = static_cast<int>(kMaxHeads);
    auto key_value_heads = config.integer(kKeyValueHeads, 1, kMaxKeyValueHeads);
    if (!key_value_heads)
        key_value_heads = sizes.defaultOf(kKeyValueHeads, kKeyValueHeads, kMaxKeyValueHeads);
    model.key_value_heads = key_value_heads.value_or(static_cast<int>(model.heads));
    if (model.heads % model.key_value_heads != 0)
        config.refuse(kKeyValueHeads, "must divide num_attention_heads, " + std::to_string(model.heads));
    constexpr const char* kFeedForward = "intermediate_size";
    if (own.is_feed_forward_by_layer && config.has(kFeedForward) && !config.isNumber(kFeedForward))
        readFeedForwardByLayer(config, kFeedForward, model);
    else
        model.feed_forward =
            sizeOf(config, own.feed_forward, {kFeedForward, "n_inner"}, kMaxFeedForward).value_or(0);
    if (model.feed_forward == 0) model.feed_forward = rules.feed_forward_factor * model.width;
    if (model.feed_forward == 0)
        model.feed_forward = sizes.required(own.feed_forward, {kFeedForward}, kMaxFeedForward);
    model.context = sizeOf(config, own.context, {"max_position_embeddings", "n_positions"}, 1 << 30)
                        .value_or(static_cast<int>(rules.context));
}

/// Reads the members that only encoders have, after `Family::describe`, and refuses unsupported ones.
void readEncoder(const ConfigFields& config, const EncoderRules& rules, Architecture& model) {
    if (rules.norm_bias_flag != nullptr)
        model.norm_biases = config.flag(rules.norm_bias_flag).value_or(false);
    if (rules.embedding_norm_flag != nullptr)
        model.norms_embeddings = config.flag(rules.embedding_norm_flag).value_or(false);
    if (rules.head_activation_key != nullptr)
        model.head_activation = activationOf(config, rules.head_activation_key, *model.head_activation);
    if (model.head_activation == Activation::xielu)
        config.refuse(rules.head_activation_key,
                      "\"xielu\" has parameters, which this family does not store");
    if (rules.token_types_key != nullptr)
        model.token_types = config.integer(rules.token_types_key, 1, static_cast<int>(kMaxVocabulary))
                                .value_or(static_cast<int>(model.token_types));
    if (rules.mask_dropout_flag != nullptr) {
        const auto mask = config.integer("mask_token_id", 0, static_cast<int>(kMaxVocabulary));
        if (!config.flag(rules.mask_dropout_flag).value_or(false))
            model.mask_dropout = 0;
        else if (mask)
            model.mask_token = *mask;
        else
            config.refuse("mask_token_id",
                          std::string("is missing; ") + rules.mask_dropout_flag + " needs it");
    }
    if (rules.embedding_width_key != nullptr &&
        config.integer(rules.embedding_width_key, 1, static_cast<int>(kMaxWidth))
                .value_or(static_cast<int>(model.width)) != model.width)
        config.refuse(rules.embedding_width_key, "must equal hidden_size; other widths are not supported");
    if (rules.required_key != nullptr && config.text(rules.required_key) != rules.required_text)
        config.refuse(rules.required_key, std::string("must be \"") + rules.required_text +
                                              "\"; other models of this type are not supported");
    for (const std::string& flag : rules.refused_flags)
        if (config.flag(flag).value_or(false)) config.refuse(flag, "is true, which is not supported");
}

double softcap(const ConfigFields& config, const char* key, double default_value) {
    if (!config.contains(key)) return default_value;
    return config.number(key, 1e-3, 1e6).value_or(0);  // null means none
}

double factor(const ConfigFields& config, const ConfigRules::Factor& rule) {
    if (rule.key == nullptr) return 1;
    return config.number(rule.key, -1e6, 1e6).value_or(rule.default_value);
}

/// Reads the factors on embeddings, scores, logits, and the outputs of attention and feed-forward.
void readScales(const ConfigFields& config, const Family& family, Architecture& model) {
    const ConfigRules& rules = family.config_rules;
    if (rules.embedding_scale.key != nullptr) model.embedding_scale = factor(config, rules.embedding_scale);
    model.residual_scale = factor(config, rules.residual_scale);
    const auto is_null = [&](const ConfigRules::Factor& rule) {
        return config.contains(rule.key) && !config.has(rule.key);
    };
    if (const auto& rule = rules.residual_depth_scale; rule.key != nullptr && !is_null(rule))
        model.residual_scale = factor(config, rule) / std::sqrt(static_cast<double>(model.layers));
    if (rules.score_scale.key != nullptr) model.score_scale = factor(config, rules.score_scale);
    if (rules.score_scale.key != nullptr && model.score_scale <= 0)
        config.refuse(rules.score_scale.key, "must be above 0");
    if (rules.logit_divisor.key != nullptr && factor(config, rules.logit_divisor) == 0)
        config.refuse(rules.logit_divisor.key, "is 0; logits would be divided by it");
    model.logit_scale = factor(config, rules.logit_scale) / factor(config, rules.logit_divisor);
    if (const auto& rule = rules.logit_width; rule.key != nullptr && !is_null(rule))
        model.logit_scale = factor(config, rule) / static_cast<double>(model.width);
    if (rules.clip_key != nullptr) model.clip = config.number(rules.clip_key, 1e-6, 1e6).value_or(0);
    if (rules.growth_key != nullptr) {
        model.query_growth = config.number(rules.growth_key, 0, 1e6).value_or(model.query_growth);
        model.query_growth_length =
            config.number(rules.growth_length_key, 1, 1e9).value_or(model.query_growth_length);
        // The first configs of Llama 4 have a number here.
        const bool grows = config.isNumber(rules.growth_flag) ? config.number(rules.growth_flag, 0, 1e9) != 0
                                                              : config.flagOr(rules.growth_flag, true);
        if (!grows) model.query_growth = 0;
    }
    if (!family.queries_grow) return;
    const auto rope = ropeParametersOf(config, findModelType(family.model_type));
    if (!rope) return;
    model.query_growth = rope->number("llama_4_scaling_beta", 0, 1e6).value_or(0);
    constexpr const char* kLength = "original_max_position_embeddings";
    if (const auto length = rope->number(kLength, 1, 1e9))
        model.query_growth_length = *length;
    else if (model.query_growth > 0)
        rope->refuse(kLength, "is missing; the scaling of queries depends on it");
}

/// Reads the scale and the soft caps of scores and logits.
void readScores(const ConfigFields& config, const Family& family, Architecture& model) {
    const ConfigRules& rules = family.config_rules;
    if (rules.query_scalar_key != nullptr)
        model.score_scale = 1 / std::sqrt(config.number(rules.query_scalar_key, 1e-6, 1e6).value_or(256));
    if (family.score_cap) model.score_softcap = softcap(config, "attn_logit_softcapping", *family.score_cap);
    if (family.logit_cap) model.logit_softcap = softcap(config, "final_logit_softcapping", *family.logit_cap);
    if (rules.scales_scores_flag != nullptr && !config.flagOr(rules.scales_scores_flag, true))
        model.score_scale = 1;
    if (rules.scales_by_layer_flag != nullptr)
        model.scores_by_layer = config.flag(rules.scales_by_layer_flag).value_or(false);
}

/// Whether the family's own member makes the model bidirectional.
bool isMadeBidirectional(const ConfigFields& config, const ConfigRules& rules) {
    if (rules.bidirectional_flag == nullptr) return false;
    return rules.bidirectional_text != nullptr
               ? config.text(rules.bidirectional_flag) == rules.bidirectional_text
               : config.flag(rules.bidirectional_flag).value_or(false);
}

/// The epsilon of norms under the name that the family's class reads. Configs may also have it by other
/// names.
/// @throws Error (usage) if it has only another name: transformers would use its default
std::optional<double> normEpsilon(const ConfigFields& config, const ConfigRules& rules, NormKind norm) {
    const std::string key = rules.norm_epsilon_key != nullptr ? rules.norm_epsilon_key
                            : norm == NormKind::rms           ? "rms_norm_eps"
                                                              : "layer_norm_eps";
    if (config.has(key)) return config.number(key, 0, 1);
    for (const char* const other :
         {"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps", "norm_epsilon"})
        if (config.has(other)) config.refuse(other, "is not read by models of this type, which have " + key);
    return std::nullopt;
}

void readNumbers(const ConfigFields& config, const Family& family, Architecture& model) {
    const ConfigRules& rules = family.config_rules;
    const double default_value =
        rules.norm_epsilon > 0 ? rules.norm_epsilon : (model.norm == NormKind::layer ? 1e-5 : 1e-6);
    if (const auto pruned = config.object("pruned_heads"); pruned && !pruned->isEmpty())
        config.refuse("pruned_heads", "is not supported: heads would be left out");
    model.norm_epsilon = normEpsilon(config, rules, model.norm).value_or(default_value);
    if (rules.query_key_norms_flag != nullptr &&
        !config.flagOr(rules.query_key_norms_flag, rules.query_key_norms_usually))
        model.query_key_norms = QueryKeyNorms::none;
    if (rules.activation_key != nullptr)
        model.activation = activationOf(config, rules.activation_key, model.activation);
    if (model.activation == Activation::xielu && family.names.activation.empty())
        config.refuse(rules.activation_key, "\"xielu\" has parameters, which this family does not store");
    if (rules.gelu_means_tanh && model.activation == Activation::gelu)
        model.activation = Activation::gelu_tanh;
    const auto gate = [&](const char* key, double& value) {
        if (key != nullptr) value = config.number(key, 1e-6, 1e6).value_or(value);
    };
    gate(rules.gate_limit_key, model.gate_limit);
    gate(rules.gate_steepness_key, model.gate_steepness);
    if (family.parallel_flag != nullptr)
        model.parallel = config.flag(family.parallel_flag).value_or(family.parallel_by_default);
    model.shares_norm = model.shares_norm && model.parallel;
    readScores(config, family, model);
    readScales(config, family, model);
    // is_causal decides in all families, even in those that have a flag of their own.
    const auto causal = config.flag("is_causal");
    if (!model.causal && causal.value_or(false))
        config.refuse("is_causal", "is true; models of this type attend to both sides");
    model.causal = causal.value_or(model.causal);
    if (isMadeBidirectional(config, rules)) model.causal = false;
}

/// Which layers use sliding-window attention: as listed in the config ("full_attention" or
/// "sliding_attention"), or by the family's rule.
std::vector<bool> windowedLayers(const ConfigFields& config, const ConfigRules& rules,
                                 const Architecture& model) {
    const std::string of_windows =
        rules.windowed == WindowedLayers::chunked ? "chunked_attention" : "sliding_attention";
    std::vector<bool> windowed;
    const bool is_counted_from_first = rules.windowed == WindowedLayers::all_but_every_nth_from_first;
    const int global =
        is_counted_from_first ? config.integer("global_attn_every_n_layers", 1, 1 << 10).value_or(3) : 0;
    if (const auto kinds = config.kindsByLayer("layer_types", model.layers, {"full_attention", of_windows})) {
        windowed.assign(kinds->begin(), kinds->end());
        if (rules.ends_unwindowed) windowed.back() = false;
        return windowed;
    }
    if (rules.windowed == WindowedLayers::listed)
        config.refuse("layer_types", "is missing; it says which layers attend within sliding_window");
    const auto own_pattern = config.integer("sliding_window_pattern", 1, 1 << 10);
    const int pattern = findModelType(model.family).reads_pattern ? own_pattern.value_or(rules.window_pattern)
                                                                  : rules.window_pattern;
    const int first = config.integer("max_window_layers", 0, static_cast<int>(kMaxLayers))
                          .value_or(rules.max_window_layers);
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        if (is_counted_from_first)
            windowed.push_back(layer % global != 0);
        else if (rules.windowed == WindowedLayers::all_but_every_nth)
            windowed.push_back((layer + 1) % pattern != 0);
        else if (rules.windowed == WindowedLayers::from_max_window_on)
            windowed.push_back(layer >= first);
        else if (rules.windowed == WindowedLayers::second_before_max_window)
            windowed.push_back(layer % 2 == 0 && layer < first);
        else
            windowed.push_back(true);
    }
    if (rules.ends_unwindowed) windowed.back() = false;
    return windowed;
}

/// Reads chunked attention: of the layers that rotate, unless the config lists others; null means none.
void readChunks(const ConfigFields& config, const ConfigRules& rules, Architecture& model) {
    constexpr const char* kChunk = "attention_chunk_size";
    if (rules.windowed != WindowedLayers::chunked) return;
    model.chunked = true;
    if (!config.contains(kChunk) || config.has(kChunk))
        model.window = config.integer(kChunk, 1, 1 << 30).value_or(static_cast<int>(rules.window));
    if (config.has("layer_types")) {
        model.windowed = windowedLayers(config, rules, model);
        if (model.window == 0 && hasElement(model.windowed, true))
            config.refuse(kChunk, "is null, but layer_types has chunked layers");
        return;
    }
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        model.windowed.push_back(model.rotationOf(layer).rotatedWidth() > 0);
}

/// `Architecture::window` of a model that attends to both sides. In encoders, and where the family's own flag
/// makes it bidirectional, half the config's window lies on either side. The mask that follows is_causal, and
/// Gemma 4's, include one token more on either side.
std::int64_t windowOnEitherSide(const ConfigFields& config, const ConfigRules& rules,
                                const Architecture& model) {
    const bool by_mask = !model.predicts_masked && !config.flag("is_causal").value_or(true);
    const bool is_halved = !by_mask || isMadeBidirectional(config, rules);
    const bool is_inclusive = by_mask || rules.bidirectional_text != nullptr;
    return (is_halved ? model.window / 2 + 1 : model.window) + (is_inclusive ? 1 : 0);
}

/// Whether the config lists a layer of this kind.
bool listsLayer(const ConfigFields& config, const char* kind) {
    const auto listed = config.texts("layer_types", static_cast<int>(kMaxLayers));
    return listed && hasElement(*listed, kind);
}

void readWindow(const ConfigFields& config, const ConfigRules& rules, ParsedArchitecture& parsed) {
    Architecture& model = parsed.architecture;
    if (rules.windowed == WindowedLayers::none || rules.windowed == WindowedLayers::chunked) return;
    if (rules.window_flag != nullptr && !config.flag(rules.window_flag).value_or(false)) {
        config.integer("sliding_window", 0, 1 << 30);  // no effect; read so that it is not reported as unread
        if (listsLayer(config, "sliding_attention"))
            config.refuse("layer_types",
                          std::string("lists sliding_attention, but ") + rules.window_flag + " is false");
        return;
    }
    const bool is_list_ignored =
        rules.windowed == WindowedLayers::all && listsLayer(config, "full_attention");
    if (rules.window_key != std::string_view("sliding_window") && config.has("sliding_window"))
        config.refuse("sliding_window",
                      std::string("is not supported; the window of this model is ") + rules.window_key);
    const auto window = config.integer(rules.window_key, 1, 1 << 30);
    if (!window && config.contains(rules.window_key)) return;  // null means none
    model.window = window.value_or(static_cast<int>(rules.window));
    if (model.window == 0) return;
    if (!model.causal) model.window = windowOnEitherSide(config, rules, model);
    if (rules.windowed != WindowedLayers::all) {
        model.windowed = windowedLayers(config, rules, model);
        return;
    }
    model.windowed.assign(static_cast<std::size_t>(model.layers), true);
    if (is_list_ignored)
        parsed.notes.push_back("layer_types is not read in models of type " + model.family +
                               ": sliding_window applies to all layers");
}

void readRotations(const ConfigFields& config, ParsedArchitecture& parsed) {
    Architecture& model = parsed.architecture;
    const auto layers = static_cast<std::size_t>(model.layers);
    if (!findFamily(model.family)->rotates) {
        model.head_dim = model.width / model.heads;
        if (model.width % model.heads != 0)
            throw Error(ErrorKind::usage, "the width " + std::to_string(model.width) +
                                              " is not divisible by the number of heads, " +
                                              std::to_string(model.heads));
        model.rotations = {unrotatedConfig(model.head_dim)};
        model.rotation_of_layer.assign(layers, 0);
        return;
    }
    const ParsedRotation rotation = readRotation(config);
    parsed.notes.insert(parsed.notes.end(), rotation.notes.begin(), rotation.notes.end());
    for (const auto& of_layers : rotation.layers)
        model.head_dim = std::max<std::int64_t>(model.head_dim, of_layers.rotary.head_dim);
    model.rotation_of_layer.assign(layers, 0);
    for (std::size_t kind = 0; kind < rotation.layers.size(); ++kind) {
        model.rotations.push_back(rotation.layers[kind].rotary);
        for (const int layer : rotation.layers[kind].layers)
            if (static_cast<std::size_t>(layer) < layers)
                model.rotation_of_layer[static_cast<std::size_t>(layer)] = kind;
    }
    if (rotation.values != ValueRotation::none) model.value_rotations = model.rotations;
    model.rotated.output = rotation.values != ValueRotation::rotated;
}

/// Members that do not affect the computation here: settings of training, generation and storage, those of
/// other programs, and flags of biases that the family's class does not read.
bool isHarmless(const std::string& key) {
    static const std::set<std::string> kHarmless = {"architectures",
                                                    "attention_bias",
                                                    "attention_out_bias",
                                                    "attn_implementation",
                                                    "attn_logit_softcapping",
                                                    "auto_map",
                                                    "bias",
                                                    "bos_token",
                                                    "cache_implementation",
                                                    "chunk_size_feed_forward",
                                                    "classifier_bias",
                                                    "custom_pipeline",
                                                    "custom_pipelines",
                                                    "decoder_bias",
                                                    "diversity_penalty",
                                                    "do_sample",
                                                    "dtype",
                                                    "encoder_no_repeat_ngram_size",
                                                    "eos_token",
                                                    "finetuning_task",
                                                    "hidden_act",
                                                    "hidden_activation",
                                                    "id2label",
                                                    "init_std",
                                                    "initializer_factor",
                                                    "initializer_range",
                                                    "intermediate_size",
                                                    "label2id",
                                                    "language",
                                                    "layer_norm_eps",
                                                    "layer_norm_epsilon",
                                                    "length_penalty",
                                                    "license",
                                                    "lm_head_bias",
                                                    "mask_token",
                                                    "max_length",
                                                    "max_new_tokens",
                                                    "max_sequence_length",
                                                    "max_window_layers",
                                                    "min_length",
                                                    "mlp_bias",
                                                    "model_max_length",
                                                    "model_name",
                                                    "n_ctx",
                                                    "n_inner",
                                                    "name_or_path",
                                                    "neftune_noise_alpha",
                                                    "no_repeat_ngram_size",
                                                    "norm_eps",
                                                    "norm_epsilon",
                                                    "num_beam_groups",
                                                    "num_beams",
                                                    "num_labels",
                                                    "num_return_sequences",
                                                    "original_max_position_embeddings",
                                                    "output_attentions",
                                                    "output_hidden_states",
                                                    "output_router_logits",
                                                    "pad_token",
                                                    "parent_model",
                                                    "prefix",
                                                    "pretraining_tp",
                                                    "problem_type",
                                                    "qkv_bias",
                                                    "query_pre_attn_scalar",
                                                    "reorder_and_upcast_attn",
                                                    "repetition_penalty",
                                                    "return_dict",
                                                    "rms_norm_eps",
                                                    "router_aux_loss_coef",
                                                    "router_jitter_noise",
                                                    "seq_length",
                                                    "sliding_window",
                                                    "sliding_window_pattern",
                                                    "summary_activation",
                                                    "summary_first_dropout",
                                                    "summary_proj_to_labels",
                                                    "summary_type",
                                                    "summary_use_proj",
                                                    "task_specific_params",
                                                    "temperature",
                                                    "tokenizer_class",
                                                    "top_k",
                                                    "top_p",
                                                    "torch_dtype",
                                                    "torchscript",
                                                    "transformers_version",
                                                    "typical_p",
                                                    "unsloth_fixed",
                                                    "unsloth_version",
                                                    "use_bfloat16",
                                                    "use_bias",
                                                    "use_cache",
                                                    "use_flash_attn",
                                                    "use_qkv_bias",
                                                    "use_sliding_window"};
    if (isQuantizationKey(key)) return true;
    const auto has = [&](const char* part) { return key.find(part) != std::string::npos; };
    return kHarmless.count(key) > 0 || key.starts_with('_') || key.ends_with("_token_id") ||
           key.ends_with("_token_ids") || has("dropout") || has("pdrop") || has("rope") ||
           has("rotary");  // rope and rotary: `readRotation` notes these
}

/// @throws Error (usage) naming an unread member that may change what the model computes
/// @param is_harmless  whether a member of this name cannot change it
template <class IsHarmless>
void refuseUnsupportedMembers(const ConfigFields& config, IsHarmless is_harmless) {
    for (const std::string& member : config.unread()) {
        const std::size_t begin = config.where().empty() ? 0 : config.where().size() + 1;
        const std::string key = member.substr(begin, member.find(" = ") - begin);
        if (!is_harmless(key))
            throw Error(ErrorKind::usage,
                        toSingleLine(member) + " may change what the model computes and is not supported");
    }
}

BiasRules readBiases(const ConfigFields& config, const ConfigBiases& by) {
    BiasRules rules = by.plain;
    const auto decide = [&](const ConfigBiases::Flag& flag, BiasRule& rule) {
        if (flag.key != nullptr)
            rule = config.flag(flag.key).value_or(flag.default_value) ? BiasRule::always : BiasRule::never;
    };
    decide(by.query_key_value, rules.query_key_value);
    decide(by.output, rules.output);
    decide(by.feed_forward, rules.feed_forward);
    decide(by.head, rules.head);
    decide(by.head_dense, rules.head_dense);
    return rules;
}

/// Refuses unread members of a language model's config, and of the composite model's around it.
void refuseUnsupportedMembers(const ConfigFields& whole, const LanguageConfig& language,
                              const ConfigRules& rules) {
    const bool is_nested = !language.fields.where().empty();
    const auto is_harmless = [&](const std::string& key) {
        return isHarmless(key) || hasElement(rules.ignored, key) ||
               (language.composite != nullptr && !is_nested && describesImagesOrSounds(key));
    };
    refuseUnsupportedMembers(language.fields, is_harmless);
    if (rules.nested != nullptr && language.fields.has(rules.nested))
        refuseUnsupportedMembers(*language.fields.object(rules.nested), is_harmless);
    if (!is_nested) return;
    // A member that the language model's config has as well counts only there.
    refuseUnsupportedMembers(whole, [&](const std::string& key) {
        return isHarmless(key) || describesImagesOrSounds(key) || language.fields.contains(key);
    });
}

}  // namespace

ParsedArchitecture readConfigArchitecture(std::string_view json) {
    const ConfigFields whole = ConfigFields::parse(json);
    const LanguageConfig language = languageConfigOf(whole);
    const ConfigFields& config = language.fields;
    const Family* const family = findFamily(language.model_type);
    ParsedArchitecture parsed;
    Architecture& model = parsed.architecture;
    model.family = family->model_type;
    if (language.composite != nullptr) model.composite = language.composite->model_type;
    readSizes(config, *family, parsed);
    family->describe(model);
    parsed.biases = readBiases(config, family->config_rules.biases);
    model.tied = isHeadTied(whole, language, family->config_rules.tied);
    readNumbers(config, *family, model);
    readEncoder(config, family->config_rules.encoder, model);
    if (!model.causal && !model.predicts_masked) parsed.notes.emplace_back(kNoLossNote);
    if (family->config_rules.read != nullptr) family->config_rules.read(config, parsed);
    if (!model.causal && !model.head_bias.empty())
        config.refuse("is_causal", "is false, which is not supported for ALiBi's bias by distance");
    if (language.composite != nullptr)
        for (const char* const key : language.composite->unread)
            if (key != nullptr && config.has(key) && !config.equalsJson(key, "false"))
                config.refuse(key, std::string("is not read in ") + language.composite->model_type +
                                       ", only in the language model alone; remove it");
    readMixture(config, family->config_rules, model);
    readWindow(config, family->config_rules, parsed);
    readRotations(config, parsed);
    readLatentAttention(config, family->config_rules.latent, model);
    readChunks(config, family->config_rules, model);
    if (family->config_rules.read_layers != nullptr) family->config_rules.read_layers(config, model);
    if (language.composite != nullptr && language.composite->leaves_out_logit_scale && model.logit_scale != 1)
        parsed.notes.push_back("logits are multiplied by " + formatNumber(model.logit_scale) +
                               ", as when the language model was trained; " + model.composite +
                               " in transformers 5.24 omits this");
    refuseUnsupportedMembers(whole, language, family->config_rules);
    return parsed;
}

}  // namespace roper
