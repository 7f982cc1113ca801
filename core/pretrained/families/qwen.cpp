#include "core/pretrained/families/families.h"

namespace roper::family {

Family qwen2() {
    Family family = llamaLike("qwen2", "qwen2");
    family.config_rules.biases.plain.query_key_value = always;
    family.gguf_rules.biases = {if_present, if_present, never, if_present};
    family.config_rules.windowed = WindowedLayers::from_max_window_on;
    family.config_rules.window_flag = "use_sliding_window";
    family.gguf_rules.requires_full_rotation = true;
    return family;
}

Family qwen3() {
    Family family = llamaLike("qwen3", "qwen3");
    family.describe = [](Architecture& model) { model.query_key_norms = QueryKeyNorms::shared_weights; };
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.gguf_rules.biases = {if_present, if_present, never, never};
    family.config_rules.windowed = WindowedLayers::from_max_window_on;
    family.config_rules.window_flag = "use_sliding_window";
    family.gguf_rules.requires_full_rotation = true;
    return family;
}

namespace {

MixtureRules qwenMixture(int per_token, int width) {
    return {.experts = {"num_experts", 0, "num_local_experts"},
            .per_token = {"num_experts_per_tok", per_token},
            .feed_forward = {"moe_intermediate_size", width},
            .layers = MixtureLayers::by_sparse_step,
            .normalizes_flag = "norm_topk_prob"};
}

}  // namespace

/// Qwen 1.5 and 2 with experts.
Family qwen2_moe() {
    Family family = llamaLike("qwen2_moe", "qwen2moe");
    family.describe = [](Architecture& model) {
        model.mixture.shared_is_gated = true;
        // GGUF files do not say this; llama.cpp's programs do not divide either.
        model.mixture.normalizes = false;
    };
    MixtureNames names = qwenMixtureNames();
    names.shared_gate = "mlp.shared_expert.gate_proj";
    names.shared_up = "mlp.shared_expert.up_proj";
    names.shared_down = "mlp.shared_expert.down_proj";
    names.shared_switch = "mlp.shared_expert_gate";
    family.mixture_names = {names};
    family.config_rules.biases.query_key_value = {"qkv_bias", true};
    family.config_rules.windowed = WindowedLayers::second_before_max_window;
    family.config_rules.window_flag = "use_sliding_window";
    family.config_rules.mixture = qwenMixture(4, 1408);
    family.config_rules.mixture.experts = {"num_experts", 60};
    family.config_rules.mixture.shared_feed_forward = {"shared_expert_intermediate_size", 5632};
    family.gguf_rules.biases = {if_present, never, never, never};
    family.gguf_rules.requires_full_rotation = true;
    family.gguf_rules.has_expert_width = family.gguf_rules.has_shared_width = true;
    return family;
}

Family qwen3_moe() {
    Family family = qwen3();
    family.model_type = "qwen3_moe";
    family.gguf = "qwen3moe";
    family.mixture_names = {qwenMixtureNames()};
    family.config_rules.windowed = WindowedLayers::all;
    family.config_rules.mixture = qwenMixture(8, 768);
    family.config_rules.mixture.experts.default_value = 128;
    family.gguf_rules.has_expert_width = true;
    return family;
}

}  // namespace roper::family
