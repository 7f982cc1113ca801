#include "core/pretrained/families/families.h"

namespace roper::family {

Family olmo() {
    Family family = llamaLike("olmo", "olmo");
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.norm_weights = model.norm_biases = false;
    };
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.clip_key = "clip_qkv";
    family.gguf_rules.biases = {never, never, never, never};
    family.gguf_rules.interleaves = true;
    family.gguf_rules.has_clip = true;
    return family;
}

Family olmo2() {
    Family family = llamaLike("olmo2", "olmo2");
    family.describe = [](Architecture& model) {
        model.norms_before = false;
        model.norms_after = true;
        model.query_key_norms = QueryKeyNorms::all_heads;
    };
    family.names.after_attention_norm = "post_attention_layernorm";
    family.names.after_feed_forward_norm = "post_feedforward_layernorm";
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.gguf_rules.biases = {never, never, never, never};
    family.gguf_rules.window_pattern = 4;  // of OLMo 3, whose GGUF files name the architecture olmo2
    family.gguf_rules.scales_only_full_attention = true;
    return family;
}

Family olmo3() {
    Family family = olmo2();
    family.model_type = "olmo3";
    family.config_rules.windowed = WindowedLayers::all_but_every_nth;
    family.config_rules.window_pattern = 4;
    return family;
}

Family olmoe() {
    Family family = llamaLike("olmoe", "olmoe");
    family.describe = [](Architecture& model) {
        model.query_key_norms = QueryKeyNorms::all_heads;
        model.mixture.normalizes = false;  // GGUF files do not say this
    };
    family.mixture_names = {qwenMixtureNames()};
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.clip_key = "clip_qkv";
    family.config_rules.mixture = {.experts = {"num_experts", 64, "num_local_experts"},
                                   .per_token = {"num_experts_per_tok", 8},
                                   .normalizes_flag = "norm_topk_prob"};
    return family;
}

/// FlexOlmo: the blocks of OLMo 2 with the experts of OLMoE.
Family flex_olmo() {
    Family family = olmo2();
    family.model_type = "flex_olmo";
    family.gguf = "";
    family.describe = [](Architecture& model) {
        olmo2().describe(model);
        olmoe().describe(model);
    };
    family.mixture_names = olmoe().mixture_names;
    family.config_rules.norm_epsilon = 1e-6;
    family.config_rules.mixture = olmoe().config_rules.mixture;
    family.config_rules.mixture.experts.default_value = 7;
    family.config_rules.mixture.per_token.default_value = 5;
    return family;
}

}  // namespace roper::family
