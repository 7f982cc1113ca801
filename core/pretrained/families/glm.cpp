#include "core/pretrained/families/families.h"

namespace roper::family {

Family glm() {
    Family family = llamaLike("glm", "chatglm");
    family.names.gate_up = "mlp.gate_up_proj";
    family.config_rules.norm_epsilon = 1.5625e-7;
    family.config_rules.biases.query_key_value = {"attention_bias", true};
    family.gguf_rules.interleaves = true;
    family.gguf_rules.gate_and_up_fused = true;
    return family;
}

Family glm4() {
    Family family = glm();
    family.model_type = family.gguf = "glm4";
    family.describe = [](Architecture& model) { model.norms_after = true; };
    family.names.after_attention_norm = "post_self_attn_layernorm";
    family.names.after_feed_forward_norm = "post_mlp_layernorm";
    return family;
}

/// GLM 4.5 to 4.7.
Family glm4_moe() {
    Family family = llamaLike("glm4_moe", "glm4moe");
    family.describe = [](Architecture& model) {
        model.query_key_norms = QueryKeyNorms::shared_weights;
        model.mixture.scores = RouterScores::sigmoid;
        model.mixture.choice_bias = true;
        model.mixture.min_weight_sum = 1e-20;
    };
    family.mixture_names = {deepseekMixtureNames()};
    family.has_mtp_layers = true;
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.query_key_norms_flag = "use_qk_norm";
    family.config_rules.biases.query_key_value = {"attention_bias"};
    family.config_rules.ignored = {"num_nextn_predict_layers", "num_mtp_layers"};
    family.config_rules.mixture = {.experts = {"n_routed_experts", 128, "num_local_experts"},
                                   .per_token = {"num_experts_per_tok", 8},
                                   .feed_forward = {"moe_intermediate_size", 1408},
                                   .shared_experts = {"n_shared_experts", 1},
                                   .layers = MixtureLayers::after_first_dense,
                                   .first_dense = {"first_k_dense_replace", 1},
                                   .normalizes_flag = "norm_topk_prob",
                                   .normalizes_usually = true,
                                   .groups = {"n_group", 1},
                                   .groups_per_token = {"topk_group", 1},
                                   .scale_key = "routed_scaling_factor"};
    family.gguf_rules.feed_forward_norm = "post_attention_norm";
    family.gguf_rules.has_expert_width = family.gguf_rules.has_shared_count = true;
    family.gguf_rules.has_dense_first = family.gguf_rules.expert_weights_norm_off_by_default = true;
    return family;
}

/// dots.llm1, which chooses experts like GLM 4.5.
Family dots1() {
    Family family = glm4_moe();
    family.model_type = family.gguf = "dots1";
    family.has_mtp_layers = false;
    family.config_rules.norm_epsilon = 0;
    family.config_rules.query_key_norms_flag = nullptr;
    family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.windowed = WindowedLayers::from_max_window_on;
    family.config_rules.max_window_layers = 62;
    family.config_rules.ignored = {"aux_loss_alpha", "ep_size", "moe_layer_freq",
                                   "scoring_func",   "seq_aux", "topk_method"};
    family.config_rules.mixture.experts = {"n_routed_experts", 0, "num_local_experts"};
    family.config_rules.mixture.per_token = {"num_experts_per_tok", 0};
    family.config_rules.mixture.shared_experts = {"n_shared_experts", 0};
    family.config_rules.mixture.first_dense = {"first_k_dense_replace", 0};
    family.config_rules.mixture.normalizes_usually = false;
    family.gguf_rules.feed_forward_norm = nullptr;
    return family;
}

/// Solar Open, whose GGUF files name the architecture of GLM 4.5.
Family solar_open() {
    Family family = glm4_moe();
    family.model_type = "solar_open";
    family.gguf = "";
    family.describe = [](Architecture& model) {
        glm4_moe().describe(model);
        model.query_key_norms = QueryKeyNorms::none;
    };
    family.has_mtp_layers = false;
    family.config_rules.query_key_norms_flag = nullptr;
    // Members of published configs that transformers' class does not read.
    family.config_rules.ignored = {"first_k_dense_replace", "num_nextn_predict_layers", "use_qk_norm"};
    family.config_rules.feed_forward_factor = 1;  // there are no dense layers
    family.config_rules.mixture.feed_forward.default_value = 1280;
    family.config_rules.mixture.layers = MixtureLayers::all;
    return family;
}

}  // namespace roper::family
