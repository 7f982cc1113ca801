#include <cmath>

#include "core/pretrained/families/families.h"

namespace roper::family {

Family gemma() {
    Family family = llamaLike("gemma", "gemma");
    family.describe = [](Architecture& model) {
        model.norm_adds_one = true;
        model.activation = Activation::gelu_tanh;
        model.embedding_scale = std::sqrt(static_cast<double>(model.width));
    };
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.gguf_rules.biases = {if_present, never, never, never};
    family.config_rules.gelu_means_tanh = true;
    family.config_rules.tied = true;
    return family;
}

Family gemma2() {
    Family family = gemma();
    family.model_type = family.gguf = "gemma2";
    family.describe = [](Architecture& model) {
        gemma().describe(model);
        model.norms_after = true;
    };
    family.names.after_attention_norm = "post_attention_layernorm";
    family.names.feed_forward_norm = "pre_feedforward_layernorm";
    family.names.after_feed_forward_norm = "post_feedforward_layernorm";
    family.config_rules.activation_key = "hidden_activation";
    family.config_rules.gelu_means_tanh = false;
    family.score_cap = 50;
    family.logit_cap = 30;
    family.config_rules.query_scalar_key = "query_pre_attn_scalar";
    family.config_rules.windowed = WindowedLayers::all_but_every_nth;
    family.config_rules.window_pattern = 2;
    family.gguf_rules.window = 4096;
    family.gguf_rules.window_pattern = 2;
    family.gguf_rules.layers_scored_by_width = 46;
    return family;
}

Family gemma3_text() {
    Family family = gemma2();
    family.model_type = "gemma3_text";
    family.gguf = "gemma3";
    family.describe = [](Architecture& model) {
        gemma2().describe(model);
        model.query_key_norms = QueryKeyNorms::shared_weights;
    };
    family.score_cap = std::nullopt;
    family.logit_cap = 0;
    family.config_rules.window_pattern = 6;
    family.config_rules.bidirectional_flag = "use_bidirectional_attention";
    family.gguf_rules.windowed_base = 10000;
    family.gguf_rules.window = 0;
    family.gguf_rules.window_pattern = 6;
    family.gguf_rules.layers_scored_by_width = 62;
    family.gguf_rules.image_tensor_prefixes = {"v.", "mm."};
    return family;
}

}  // namespace roper::family
