#include "core/pretrained/families/families.h"

// Families that differ little from Llama.

namespace roper::family {

Family arcee() {
    Family family = llamaLike("arcee", "arcee");
    family.describe = [](Architecture& model) {
        model.gated = false;
        model.activation = Activation::relu_squared;
    };
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    family.gguf_rules.biases = {never, never, never, never};
    family.gguf_rules.interleaves = true;
    family.gguf_rules.has_frequency_factors = true;
    return family;
}

/// ERNIE 4.5.
Family ernie4_5() {
    Family family = llamaLike("ernie4_5", "ernie4_5");
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.tied = true;
    family.config_rules.biases.query_key_value = {"use_bias"};
    family.config_rules.biases.output = family.config_rules.biases.feed_forward = {"use_bias"};
    family.gguf_rules.biases = {if_present, if_present, if_present, never};
    family.gguf_rules.interleaves = true;
    return family;
}

Family helium() {
    Family family = llamaLike("helium", "");
    family.config_rules.norm_epsilon = 1e-8;
    family.config_rules.biases.query_key_value = {"attention_bias"};
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    return family;
}

/// InternLM 3, whose GGUF files name the architecture llama.
Family internlm3() {
    Family family = llamaLike("internlm3", "");
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    return family;
}

Family seed_oss() {
    Family family = llamaLike("seed_oss", "seed_oss");
    family.config_rules.biases.query_key_value = {"attention_bias", true};
    family.config_rules.biases.output = {"attention_out_bias"};
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    family.gguf_rules.feed_forward_norm = "post_attention_norm";
    return family;
}

/// ERNIE 4.5 with experts.
Family ernie4_5_moe() {
    Family family = ernie4_5();
    family.model_type = "ernie4_5_moe";
    family.gguf = "ernie4_5-moe";
    family.describe = [](Architecture& model) {
        model.mixture.choice_bias = true;
        model.mixture.min_weight_sum = 1e-12;
    };
    MixtureNames names = deepseekMixtureNames();
    names.choice_bias = "mlp.moe_statics.e_score_correction_bias";
    names.other_choice_bias = "mlp.gate.moe_statics.e_score_correction_bias";
    family.mixture_names = {names};
    family.mtp_name_parts = {"mtp"};
    family.config_rules.biases.head = {"use_bias"};
    family.config_rules.ignored = {"moe_capacity", "moe_gate", "moe_use_aux_free",
                                   "num_nextn_predict_layers"};
    family.config_rules.mixture = {.experts = {"moe_num_experts", 64, "num_experts"},
                                   .per_token = {"moe_k", 6, "num_experts_per_tok"},
                                   .feed_forward = {"moe_intermediate_size", 1536},
                                   .shared_experts = {"moe_num_shared_experts", 2},
                                   .layers = MixtureLayers::by_interval,
                                   .min_weight_sum_key = "moe_norm_min"};
    family.gguf_rules.has_expert_width = family.gguf_rules.has_shared_count = true;
    family.gguf_rules.has_dense_first = family.gguf_rules.has_mixture_step = true;
    return family;
}

/// MiniMax M2. Published configs have members of older models, which transformers' class does not read.
Family minimax_m2() {
    Family family = llamaLike("minimax_m2", "minimax-m2");
    family.describe = [](Architecture& model) {
        model.query_key_norms = QueryKeyNorms::all_heads;
        model.mixture.scores = RouterScores::sigmoid;
        model.mixture.choice_bias = true;
    };
    family.mixture_names = mixtralNames();
    family.config_rules.ignored = {"attn_type_list",
                                   "layernorm_full_attention_beta",
                                   "layernorm_linear_attention_beta",
                                   "layernorm_mlp_beta",
                                   "mlp_intermediate_size",
                                   "mtp_transformer_layers",
                                   "num_mtp_modules",
                                   "qk_norm_type",
                                   "scoring_func",
                                   "shared_intermediate_size",
                                   "shared_moe_mode",
                                   "use_mtp",
                                   "use_qk_norm",
                                   "use_routing_bias"};
    family.config_rules.mixture = {.experts = {"num_local_experts", 256, "num_experts"},
                                   .per_token = {"num_experts_per_tok", 8}};
    family.gguf_rules.has_expert_width = true;
    return family;
}

/// BitNet b1.58. llama.cpp's converter writes it under the architecture of an older model with another
/// activation, so its GGUF files are not read.
Family bitnet() {
    Family family = llamaLike("bitnet", "");
    family.describe = [](Architecture& model) {
        model.norms_inner = true;
        model.activation = Activation::relu_squared;
    };
    family.names.mixed_norm = "self_attn.attn_sub_norm";
    family.names.down_norm = "mlp.ffn_sub_norm";
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    return family;
}

/// Nemotron 4 and Minitron.
Family nemotron() {
    Family family = llamaLike("nemotron", "nemotron");
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.norm_adds_one = true;
        model.gated = false;
        model.activation = Activation::relu_squared;
    };
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    family.gguf_rules.biases = {if_present, if_present, if_present, never};
    family.config_rules.ignored = {"kv_channels"};
    family.config_rules.norm_epsilon_key = "norm_eps";
    return family;
}

Family smollm3() {
    Family family = llamaLike("smollm3", "smollm3");
    family.config_rules.tied = true;
    family.config_rules.windowed = WindowedLayers::listed;
    family.config_rules.window_flag = "use_sliding_window";
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    family.gguf_rules.biases = {never, never, never, never};
    family.gguf_rules.interleaves = true;
    family.gguf_rules.unrotated_every_nth = 4;
    return family;
}

}  // namespace roper::family
