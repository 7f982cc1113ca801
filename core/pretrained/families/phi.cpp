#include "core/pretrained/families/families.h"

namespace roper::family {

/// Phi 1 to 2.
Family phi() {
    Family family = llamaLike("phi", "phi2");
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.parallel = true;
        model.shares_norm = true;
        model.gated = false;
        model.activation = Activation::gelu_tanh;
        model.query_key_norms = QueryKeyNorms::shared_weights;
    };
    family.names.final_norm = "model.final_layernorm";
    family.names.output = "self_attn.dense";
    family.names.query_norm = "self_attn.q_layernorm";
    family.names.key_norm = "self_attn.k_layernorm";
    family.names.up = "mlp.fc1";
    family.names.down = "mlp.fc2";
    family.config_rules.query_key_norms_flag = "qk_layernorm";
    family.config_rules.biases.plain = {always, always, always, always};
    family.gguf_rules.biases = {always, always, always, always};
    return family;
}

/// Phi 3 and 4.
Family phi3() {
    Family family = llamaLike("phi3", "phi3");
    family.describe = [](Architecture& model) { model.recomputes_longer_texts = true; };
    family.names.query_key_value = "self_attn.qkv_proj";
    family.names.gate_up = "mlp.gate_up_proj";
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.windowed = WindowedLayers::all;
    family.config_rules.window = 0;
    family.gguf_rules.biases = {never, never, never, never};
    family.gguf_rules.has_long_factors = true;
    family.gguf_rules.gate_and_up_fused = true;
    family.gguf_rules.window_pattern = 0;
    family.config_rules.ignored = {"full_attn_mod", "interpolate_factor"};
    return family;
}

/// Phi 3.5 with experts. llama.cpp weights experts differently, by a softmax over all of them.
Family phimoe() {
    Family family = llamaLike("phimoe", "phimoe");
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.recomputes_longer_texts = true;
        model.mixture.scores = RouterScores::sparse_mixer;
        model.mixture.normalizes = false;
        model.mixture.jitter_epsilon = 0.01;
    };
    family.mixture_names = mixtralNames();
    family.mixture_names.back().router = "mlp.router";
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.biases.head = {"lm_head_bias"};
    family.config_rules.windowed = WindowedLayers::all;
    family.config_rules.window = 0;
    family.config_rules.ignored = {"input_jitter_noise"};  // in training alone
    family.config_rules.mixture = {.experts = {"num_local_experts", 16},
                                   .per_token = {"num_experts_per_tok", 2},
                                   .jitter_epsilon_key = "router_jitter_noise"};
    family.gguf_rules.biases = {if_present, always, never, always};
    family.gguf_rules.has_long_factors = true;
    family.gguf_rules.window_pattern = 0;
    family.gguf_rules.epsilon_key = "attention.layer_norm_rms_epsilon";
    family.config_rules.norm_epsilon_key = "rms_norm_eps";
    return family;
}

}  // namespace roper::family
