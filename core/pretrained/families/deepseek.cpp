#include "core/model_config/config_fields.h"
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

/// Latent attention and mixtures of experts, as in DeepSeek V2 and V3.
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
    // Members of published configs that transformers' classes derive from others or do not read.
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
        model.mixture.experts_summed_per_group = 1;
    };
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    MixtureRules& mixture = family.config_rules.mixture;
    mixture.experts = {"n_routed_experts", 64, "num_experts"};
    mixture.feed_forward = {"moe_intermediate_size", 1407};
    mixture.shared_experts = {"n_shared_experts", 2};
    mixture.first_dense = {"first_k_dense_replace", 0};
    mixture.groups_method_key = "topk_method";
    mixture.groups_method = "group_limited_greedy";
    // The class does not divide weights by their sum, whatever this flag says.
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

/// Kimi K2, which is DeepSeek V3 with other sizes: "deploy_guidance" of moonshotai/Kimi-K2 says that only the
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

/// DeepSeek V3.2, in which a query attends only to the keys that an indexer chooses.
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
    rules.read = [](const ConfigFields& config, ParsedArchitecture& parsed) {
        const auto size = [&](const char* key, int usually) {
            return config.integer(key, 1, 1 << 20).value_or(usually);
        };
        parsed.architecture.indexer = {size("index_topk", 2048), size("index_n_heads", 64),
                                       size("index_head_dim", 128)};
        config.kindsByLayer("layer_types", parsed.architecture.layers, {"indexed_attention"});
    };
    rules.read_layers = [](const ConfigFields& config, Architecture& model) {
        if (model.latent.query_rank == 0) config.refuse("q_lora_rank", "is null; the indexer needs it");
        if (model.indexer.head_dim < model.latent.rotated)
            config.refuse("index_head_dim", "must be at least qk_rope_head_dim");
    };
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

/// MiniCPM 3. GGUF files do not contain the model's factors, which are part of llama.cpp's code.
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
