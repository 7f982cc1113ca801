#include "core/pretrained/families/families.h"

namespace roper::family {

Family olmo() {
    Family family = llamaLike("olmo", "olmo");
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.norm_weights = model.norm_biases = false;
    };
    family.in_config.biases.query_key_value = family.in_config.biases.output = {"attention_bias"};
    family.in_config.clip_key = "clip_qkv";
    family.in_gguf.biases = {never, never, never, never};
    family.in_gguf.interleaves = true;
    family.in_gguf.has_clip = true;
    return family;
}

Family olmo2() {
    Family family = llamaLike("olmo2", "olmo2");
    family.describe = [](Architecture& model) {
        model.norms_before = false;
        model.norms_after = true;
        model.query_key_norms = QueryKeyNorms::whole;
    };
    family.names.after_attention_norm = "post_attention_layernorm";
    family.names.after_feed_forward_norm = "post_feedforward_layernorm";
    family.in_config.norm_epsilon = 1e-5;
    family.in_config.biases.query_key_value = family.in_config.biases.output = {"attention_bias"};
    family.in_gguf.biases = {never, never, never, never};
    family.in_gguf.window_pattern = 4;  // of OLMo 3, whose GGUF files name the architecture olmo2
    family.in_gguf.scales_full_layers_alone = true;
    return family;
}

Family olmo3() {
    Family family = olmo2();
    family.model_type = "olmo3";
    family.in_config.windowed = WindowedLayers::all_but_each_nth;
    family.in_config.window_pattern = 4;
    return family;
}

}  // namespace roper::family
