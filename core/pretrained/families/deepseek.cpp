#include <algorithm>

#include "core/base/text.h"
#include "core/model_config/config_fields.h"
#include "core/model_config/rotation_reading.h"
#include "core/pretrained/families/families.h"

namespace roper::family {

MixtureNames deepseekMixtureNames() {
    MixtureNames names = qwenMixtureNames();
    names.choice_bias = "mlp.gate.e_score_correction_bias";
    names.shared_gate = "mlp.shared_experts.gate_proj";
    names.shared_up = "mlp.shared_experts.up_proj";
    names.shared_down = "mlp.shared_experts.down_proj";
    return names;
}

namespace {

/// Latent attention and mixtures of experts, as DeepSeek V2 and V3 have them.
Family deepseek(const char* model_type) {
    Family family = llamaLike(model_type, "deepseek2");
    family.latent_names = {.query_down = "self_attn.q_a_proj",
                           .query_norm = "self_attn.q_a_layernorm",
                           .query_up = "self_attn.q_b_proj",
                           .down = "self_attn.kv_a_proj_with_mqa",
                           .norm = "self_attn.kv_a_layernorm",
                           .up = "self_attn.kv_b_proj"};
    family.mixture_names = {deepseekMixtureNames()};
    family.config_rules.norm_epsilon = 1e-6;
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.latent = {.rank = 512, .query_rank = 1536, .unrotated = 128, .values = 128};
    family.config_rules.mixture = {.per_token = {"num_experts_per_tok", 8},
                                   .layers = MixtureLayers::after_first_dense,
                                   .groups = {"n_group", 1},
                                   .groups_per_token = {"topk_group", 1},
                                   .scale_key = "routed_scaling_factor"};
    // Members of published configs that transformers' classes compute or do not read.
    family.config_rules.ignored = {
        "head_dim", "qk_head_dim",    "moe_layer_freq",           "scoring_func",  "ep_size",
        "seq_aux",  "aux_loss_alpha", "num_nextn_predict_layers", "num_mtp_layers"};
    family.gguf_rules.biases = {if_present, if_present, never, never};
    family.gguf_rules.interleaves = true;
    family.gguf_rules.has_expert_width = family.gguf_rules.has_shared_count = true;
    family.gguf_rules.has_dense_first = family.gguf_rules.expert_weights_norm_off_by_default = true;
    return family;
}

}  // namespace

Family deepseek_v2() {
    Family family = deepseek("deepseek_v2");
    family.describe = [](Architecture& model) {
        model.mixture.normalizes = false;
        model.mixture.summed_of_group = 1;
    };
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    MixtureRules& mixture = family.config_rules.mixture;
    mixture.experts = {"n_routed_experts", 64, "num_experts"};
    mixture.feed_forward = {"moe_intermediate_size", 1407};
    mixture.shared_experts = {"n_shared_experts", 2};
    mixture.first_dense = {"first_k_dense_replace", 0};
    mixture.groups_method_key = "topk_method";
    mixture.groups_method = "group_limited_greedy";
    // The class divides no weights by their sum, whatever this flag says.
    family.config_rules.ignored.push_back("norm_topk_prob");
    family.gguf_rules.with_sigmoid = "deepseek_v3";
    family.gguf_rules.without_experts = "youtu";
    return family;
}

/// DeepSeek V3 and R1.
Family deepseek_v3() {
    Family family = deepseek("deepseek_v3");
    family.describe = [](Architecture& model) {
        model.mixture.scores = RouterScores::sigmoid;
        model.mixture.choice_bias = true;
        model.mixture.min_weight_sum = 1e-20;
        model.mixture.scale = 2.5;
    };
    family.has_mtp_layers = true;
    family.config_rules.context = 4096;
    MixtureRules& mixture = family.config_rules.mixture;
    mixture.experts = {"n_routed_experts", 256, "num_local_experts"};
    mixture.feed_forward = {"moe_intermediate_size", 2048};
    mixture.shared_experts = {"n_shared_experts", 1};
    mixture.first_dense = {"first_k_dense_replace", 3};
    mixture.normalizes_flag = "norm_topk_prob";
    mixture.normalizes_usually = true;
    mixture.groups.default_value = 8;
    mixture.groups_per_token.default_value = 4;
    family.config_rules.ignored.push_back("topk_method");
    return family;
}

/// Kimi K2, which is DeepSeek V3 of other sizes: "deploy_guidance" of moonshotai/Kimi-K2 says that only the
/// model_type differs, so that programs can tell them apart.
Family kimi_k2() {
    Family family = deepseek_v3();
    family.model_type = "kimi_k2";
    return family;
}

/// GLM 4.7 Flash: attention of DeepSeek V3, experts of GLM 4.5.
Family glm4_moe_lite() {
    Family family = deepseek("glm4_moe_lite");
    family.describe = [](Architecture& model) {
        glm4_moe().describe(model);
        model.query_key_norms = QueryKeyNorms::none;
        model.mixture.scale = 1.8;
    };
    family.has_mtp_layers = true;
    family.config_rules.context = 202752;
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.latent = {.rank = 512, .query_rank = 768, .unrotated = 192, .values = 256};
    family.config_rules.mixture = glm4_moe().config_rules.mixture;
    MixtureRules& mixture = family.config_rules.mixture;
    mixture.experts.default_value = 64;
    mixture.per_token.default_value = 4;
    mixture.feed_forward.default_value = 1536;
    mixture.layers = MixtureLayers::listed_or_after_first_dense;
    mixture.first_dense = {nullptr, 1};
    for (const char* const member : {"first_k_dense_replace", "topk_method"})
        family.config_rules.ignored.emplace_back(member);
    return family;
}

/// DeepSeek V3.2, in which a query sees only the keys that an indexer chooses.
Family deepseek_v32() {
    Family family = deepseek_v3();
    family.model_type = "deepseek_v32";
    family.gguf = "";  // llama.cpp calls it deepseek32, which is not read
    family.latent_names.indexer_query = "self_attn.indexer.wq_b";
    family.latent_names.indexer_key = "self_attn.indexer.wk";
    family.latent_names.indexer_key_norm = "self_attn.indexer.k_norm";
    family.latent_names.indexer_heads = "self_attn.indexer.weights_proj";
    ConfigRules& rules = family.config_rules;
    rules.context = 163840;
    rules.mixture.layers = MixtureLayers::listed_or_after_first_dense;
    rules.read = [](const ConfigFields& config, ParsedArchitecture& reading) {
        const auto size = [&](const char* key, int usually) {
            return config.integer(key, 1, 1 << 20).value_or(usually);
        };
        reading.architecture.indexer = {size("index_topk", 2048), size("index_n_heads", 64),
                                        size("index_head_dim", 128)};
        config.kindsByLayer("layer_types", reading.architecture.layers, {"indexed_attention"});
    };
    rules.read_layers = [](const ConfigFields& config, Architecture& model) {
        if (model.latent.query_rank == 0) config.refuse("q_lora_rank", "is null; the indexer needs it");
        if (model.indexer.head_dim < model.latent.rotated)
            config.refuse("index_head_dim", "must be at least qk_rope_head_dim");
    };
    return family;
}

namespace {

/// `hash_moe` in `mlp_layer_types`, or the first `num_hash_layers`.
std::vector<bool> hashedLayers(const ConfigFields& config, std::int64_t layers) {
    const int first = config.integer("num_hash_layers", 0, static_cast<int>(kMaxLayers)).value_or(3);
    if (const auto kinds = config.kindsByLayer("mlp_layer_types", layers, {"moe", "hash_moe"}))
        return {kinds->begin(), kinds->end()};
    std::vector<bool> hashed;
    for (std::int64_t layer = 0; layer < layers; ++layer)
        hashed.push_back(layer < first);
    return hashed;
}

/// @throws Error (usage) unless all layers attend within a window, without compressed keys
void requireSlidingLayers(const ConfigFields& config, std::int64_t layers) {
    constexpr const char *kTypes = "layer_types", *kRatios = "compress_ratios";
    const std::string compressed =
        "layers that attend to compressed keys (compressed_sparse_attention, heavily_compressed_attention) "
        "are "
        "not supported";
    if (config.has(kTypes)) {
        const auto kinds = config.kindsByLayer(
            kTypes, layers,
            {"sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"});
        if (std::any_of(kinds->begin(), kinds->end(), [](std::size_t kind) { return kind > 0; }))
            config.refuse(kTypes, "has " + compressed);
        return;
    }
    const auto ratios = config.integers(kRatios, 0, 1 << 20, kMaxLayers);
    if (!ratios) config.refuse(kTypes, "is missing, which means " + compressed);
    config.requireOnePerLayer(kRatios, ratios->size(), layers);
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

void readDeepseekV4(const ConfigFields& config, ParsedArchitecture& reading) {
    Architecture& model = reading.architecture;
    const auto size = [&](const char* key, int usually, std::int64_t most) {
        return config.integer(key, 1, static_cast<int>(most)).value_or(usually);
    };
    if (model.key_value_heads != 1)
        config.refuse("num_key_value_heads", "must be 1; all heads share one key, which is also the value");
    requireSlidingLayers(config, model.layers);
    model.window = size("sliding_window", 128, 1 << 30);
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
void rotateByMainFrequencies(const ConfigFields& config, Architecture& model) {
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
    TensorNames names;
    names.embedding = "embed";
    names.final_norm = "norm";
    names.head = "head";
    names.streams_sum = "hc_head_";
    names.layer = "layers.{}.";
    names.attention_norm = "attn_norm";
    names.feed_forward_norm = "ffn_norm";
    names.query_down = "attn.wq_a";
    names.query_down_norm = "attn.q_norm";
    names.query = "attn.wq_b";
    names.key = "attn.wkv";
    names.key_norm = "attn.norm";
    names.output_down = "attn.wo_a";
    names.output = "attn.wo_b";
    names.sinks = "attn.attn_sink";
    names.around_attention = "hc_attn_";
    names.around_feed_forward = "hc_ffn_";
    return names;
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

/// DeepSeek V4 with layers that attend within a window alone. One vector of a token is the key and the value
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
    rules.sizes.feed_forward = "moe_intermediate_size";
    rules.context = 1048576;
    rules.norm_epsilon = 1e-6;
    rules.biases.feed_forward = {"mlp_bias"};
    rules.read = readDeepseekV4;
    rules.read_layers = rotateByMainFrequencies;
    rules.mixture = {.experts = {"n_routed_experts", 256, "num_local_experts"},
                     .per_token = {"num_experts_per_tok", 6},
                     .feed_forward = {"moe_intermediate_size", 2048},
                     .is_shared = true,
                     .scale_key = "routed_scaling_factor"};
    // Members of published configs that transformers' class does not read, or that layers with compressed
    // keys read: weights are always divided by their sum, and there is one shared expert.
    rules.ignored = {"norm_topk_prob",    "n_shared_experts", "compress_rates",          "compress_rate_csa",
                     "compress_rate_hca", "index_n_heads",    "index_head_dim",          "index_topk",
                     "expert_dtype",      "topk_method",      "num_nextn_predict_layers"};
    return family;
}

/// Mistral Small 4: attention of DeepSeek V3 whose queries grow, and experts chosen by a softmax.
Family mistral4() {
    Family family = deepseek("mistral4");
    family.gguf = "mistral4";
    family.describe = [](Architecture& model) { model.mixture.min_weight_sum = 1e-20; };
    family.queries_grow = true;
    family.config_rules.context = 1048576;
    family.config_rules.latent = {.rank = 256, .query_rank = 1024, .unrotated = 64, .values = 128};
    MixtureRules& mixture = family.config_rules.mixture;
    mixture.experts = {"n_routed_experts", 128, "num_local_experts"};
    mixture.per_token.default_value = 4;
    mixture.feed_forward = {"moe_intermediate_size", 2048};
    mixture.shared_experts = {"n_shared_experts", 1};
    mixture.first_dense = {"first_k_dense_replace", 0};
    mixture.normalizes_flag = "norm_topk_prob";
    mixture.normalizes_usually = true;
    return family;
}

/// Youtu-LLM: attention of DeepSeek V3, dense feed-forward layers.
Family youtu() {
    Family family = deepseek("youtu");
    family.mixture_names.clear();
    family.config_rules.mixture = {};
    family.config_rules.context = 131072;
    family.config_rules.tied = true;
    family.config_rules.ignored = {"head_dim", "qk_head_dim", "embedding_initializer_range"};
    return family;
}

/// MiniCPM 3. llama.cpp's programs know the factors of the published model, which GGUF files do not contain.
Family minicpm3() {
    Family family = deepseek("minicpm3");
    family.gguf = "minicpm3";
    family.mixture_names.clear();
    ConfigRules& rules = family.config_rules;
    rules.mixture = {};
    rules.context = 32768;
    rules.tied = true;
    rules.norm_epsilon = 1e-5;
    rules.biases.feed_forward = {"mlp_bias"};
    rules.latent = {.rank = 256, .query_rank = 768, .unrotated = 64, .rotated = 32};
    rules.embedding_scale = {"scale_emb", 12};
    rules.residual_depth_scale = {"scale_depth", 1.4};
    rules.logit_width = {"dim_model_base", 256};
    rules.ignored = {"head_dim", "qk_head_dim"};
    family.gguf_rules.interleaves = false;
    family.gguf_rules.has_long_factors = true;
    family.gguf_rules.has_fixed_scales = true;
    return family;
}

}  // namespace roper::family
