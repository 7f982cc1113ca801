#include <algorithm>
#include <optional>

#include "core/base/text.h"
#include "core/model_config/config_fields.h"
#include "core/model_config/rotation_reading.h"
#include "core/pretrained/families/families.h"

namespace roper::family {

namespace {

/// The first entries of a list of texts, one for each layer: the class ignores the rest of longer lists.
std::optional<std::vector<std::string>> textsOfLayers(const ConfigFields& config, const char* key,
                                                      const std::vector<std::string>& known,
                                                      std::int64_t layers) {
    auto texts = config.texts(key, kMaxLayers);
    if (!texts) return std::nullopt;
    if (std::ssize(*texts) < layers) config.requireOnePerLayer(key, texts->size(), layers);
    texts->resize(static_cast<std::size_t>(layers));
    for (const std::string& text : *texts)
        if (!hasElement(known, text))
            config.refuse(key, "contains \"" + toSingleLine(text) + "\"; known are " + join(known, ", "));
    return texts;
}

/// `hash_moe` in `mlp_layer_types`, or the first `num_hash_layers`.
std::vector<bool> hashedLayers(const ConfigFields& config, std::int64_t layers) {
    const int first = config.integer("num_hash_layers", 0, static_cast<int>(kMaxLayers)).value_or(3);
    const auto kinds = textsOfLayers(config, "mlp_layer_types", {"moe", "hash_moe"}, layers);
    std::vector<bool> hashed;
    for (std::int64_t layer = 0; layer < layers; ++layer)
        hashed.push_back(kinds ? (*kinds)[static_cast<std::size_t>(layer)] == "hash_moe" : layer < first);
    return hashed;
}

/// @throws Error (usage) unless all layers attend within a window, without compressed keys
void requireSlidingLayers(const ConfigFields& config, std::int64_t layers) {
    constexpr const char *kTypes = "layer_types", *kRatios = "compress_ratios",
                         *kSliding = "sliding_attention";
    const std::string compressed =
        "layers that attend to compressed keys (compressed_sparse_attention, heavily_compressed_attention), "
        "which are not supported";
    auto ratios = config.integers(kRatios, 0, 1 << 20, kMaxLayers);  // has no effect if there are layer_types
    const auto types = textsOfLayers(
        config, kTypes, {kSliding, "compressed_sparse_attention", "heavily_compressed_attention"}, layers);
    if (types) {
        if (std::any_of(types->begin(), types->end(), [](const auto& type) { return type != kSliding; }))
            config.refuse(kTypes, "has " + compressed);
        return;
    }
    if (!ratios) config.refuse(kTypes, "is missing, which means " + compressed);
    if (std::ssize(*ratios) < layers) config.requireOnePerLayer(kRatios, ratios->size(), layers);
    ratios->resize(static_cast<std::size_t>(layers));
    if (std::any_of(ratios->begin(), ratios->end(), [](int ratio) { return ratio > 0; }))
        config.refuse(kRatios, "has " + compressed);
}

RouterScores routerScoresOf(const ConfigFields& config) {
    constexpr const char* kScores = "scoring_func";
    const std::string name = config.text(kScores).value_or("sqrtsoftplus");
    if (name == "sqrtsoftplus") return RouterScores::sqrt_softplus;
    if (name == "sigmoid") return RouterScores::sigmoid;
    if (name == "softmax") return RouterScores::softmax;
    config.refuse(kScores, "must be sqrtsoftplus, sigmoid or softmax, not \"" + toSingleLine(name) + "\"");
}

void readDeepseekV4(const ConfigFields& config, ParsedArchitecture& parsed) {
    Architecture& model = parsed.architecture;
    const auto size = [&](const char* key, int usually, std::int64_t most) {
        return config.integer(key, 1, static_cast<int>(most)).value_or(usually);
    };
    if (model.key_value_heads != 1)
        config.refuse("num_key_value_heads", "must be 1; all heads share one key, which is also the value");
    requireSlidingLayers(config, model.layers);
    model.window = size("sliding_window", 128, 1 << 30);
    if (!model.causal) ++model.window;  // the mask then includes one token more on either side
    model.windowed.assign(static_cast<std::size_t>(model.layers), true);
    model.query_rank = size("q_lora_rank", 1024, kMaxWidth);
    model.output_groups = size("o_groups", 8, kMaxHeads);
    model.output_rank = size("o_lora_rank", 1024, kMaxWidth);
    if (model.heads % model.output_groups != 0)
        config.refuse("o_groups", "must divide num_attention_heads, " + std::to_string(model.heads));
    model.hyper = {.streams = size("hc_mult", 4, 64),
                   .iterations = size("hc_sinkhorn_iters", 20, 1000),
                   .epsilon = config.number("hc_eps", 0, 1).value_or(1e-6)};
    model.swiglu_limit = config.number("swiglu_limit", 1e-6, 1e6).value_or(10);
    model.mixture.hashed = hashedLayers(config, model.layers);
    model.mixture.scores = routerScoresOf(config);
}

/// Layers without compressed keys rotate by the frequencies named "main".
void readDeepseekV4Layers(const ConfigFields& config, Architecture& model) {
    model.feed_forward = model.mixture.feed_forward;  // no layer is dense
    for (const RotatedLayers& of_layers : readRotation(config).layers)
        if (of_layers.kind == "main") model.rotations = {of_layers.rotary};
    if (model.rotations.front().frequenciesForLength(static_cast<double>(model.context)).attention_factor !=
        1)
        config.refuse("rope_parameters.main",
                      "has an attention factor, which would also scale values; this is not supported");
    model.value_rotations = model.rotations;
    model.rotation_of_layer.assign(static_cast<std::size_t>(model.layers), 0);
}

/// Names in DeepSeek's own files.
TensorNames publishedNames() {
    return {.embedding = "embed",
            .final_norm = "norm",
            .head = "head",
            .layer = "layers.{}.",
            .attention_norm = "attn_norm",
            .query = "attn.wq_b",
            .key = "attn.wkv",
            .output = "attn.wo_b",
            .key_norm = "attn.norm",
            .feed_forward_norm = "ffn_norm",
            .sinks = "attn.attn_sink",
            .query_down = "attn.wq_a",
            .query_down_norm = "attn.q_norm",
            .output_down = "attn.wo_a",
            .around_attention = "hc_attn_",
            .around_feed_forward = "hc_ffn_",
            .streams_sum = "hc_head_"};
}

/// Names in files that transformers 5.24 saves: those of layers are as published.
TensorNames namesInSavedFiles() {
    TensorNames names = publishedNames();
    names.embedding = "model.embed_tokens";
    names.final_norm = "model.norm";
    names.streams_sum = "model.hc_head.hc_";
    names.layer = "model.layers.{}.";
    return names;
}

}  // namespace

/// DeepSeek V4, if all layers attend only within a window. One vector of a token is the key and the value
/// of all heads; it is rotated, and what a head computes is rotated back, as in RoPER.
Family deepseek_v4() {
    Family family = llamaLike("deepseek_v4", "");
    family.describe = [](Architecture& model) {
        model.shared_kv = true;
        model.query_key_norms = QueryKeyNorms::shared_weights;
        model.query_norm_weights = false;
        model.has_sinks = true;
        model.mixture.choice_bias = true;
        model.mixture.added_weight_sum = 1e-20;
        model.mixture.scale = 1.5;
    };
    family.mtp_name_parts = {"mtp."};
    TensorNames& names = family.names;  // of transformers' class
    names.query_down = "self_attn.q_a_proj";
    names.query_down_norm = "self_attn.q_a_norm";
    names.query = "self_attn.q_b_proj";
    names.key = "self_attn.kv_proj";
    names.key_norm = "self_attn.kv_norm";
    names.output_down = "self_attn.o_a_proj";
    names.output = "self_attn.o_b_proj";
    names.sinks = "self_attn.sinks";
    names.around_attention = "attn_hc.";
    names.around_feed_forward = "ffn_hc.";
    names.streams_sum = "model.hc_head.hc_";
    family.other_names = {publishedNames(), namesInSavedFiles()};
    family.mixture_names = {deepseekMixtureNames(),
                            {.router = "ffn.gate",
                             .choice_bias = "ffn.gate.bias",
                             .hash_table = "ffn.gate.tid2eid",
                             .gate = "ffn.experts.{}.w1",
                             .up = "ffn.experts.{}.w3",
                             .down = "ffn.experts.{}.w2",
                             .shared_gate = "ffn.shared_experts.w1",
                             .shared_up = "ffn.shared_experts.w3",
                             .shared_down = "ffn.shared_experts.w2"}};
    family.mixture_names.front().hash_table = "mlp.gate.tid2eid";
    ConfigRules& rules = family.config_rules;
    rules.feed_forward_factor = 1;  // replaced by the width of experts
    rules.context = 1048576;
    rules.norm_epsilon = 1e-6;
    rules.biases.feed_forward = {"mlp_bias"};
    rules.read = readDeepseekV4;
    rules.read_layers = readDeepseekV4Layers;
    rules.mixture = {.experts = {"n_routed_experts", 256, "num_local_experts"},
                     .per_token = {"num_experts_per_tok", 6},
                     .feed_forward = {"moe_intermediate_size", 2048, "intermediate_size"},
                     .is_shared = true,
                     .scale_key = "routed_scaling_factor"};
    // Members of published configs that transformers' class does not read (weights are always divided by
    // their sum, and there is one shared expert), or reads only for layers with compressed keys.
    rules.ignored = {"norm_topk_prob",    "n_shared_experts", "compress_rates",          "compress_rate_csa",
                     "compress_rate_hca", "index_n_heads",    "index_head_dim",          "index_topk",
                     "expert_dtype",      "topk_method",      "num_nextn_predict_layers"};
    return family;
}

}  // namespace roper::family
