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
    family.in_config.biases.query_key_value = family.in_config.biases.output = {"attention_bias"};
    family.in_gguf.biases = {as_file, never, never, never};
    family.in_config.gelu_means_tanh = true;
    family.in_config.tied = true;
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
    family.in_config.activation_key = "hidden_activation";
    family.in_config.gelu_means_tanh = false;
    family.score_cap = 50;
    family.logit_cap = 30;
    family.in_config.query_scalar_key = "query_pre_attn_scalar";
    family.in_config.windowed = WindowedLayers::all_but_each_nth;
    family.in_config.window_pattern = 2;
    family.in_gguf.window = 4096;
    family.in_gguf.window_pattern = 2;
    family.in_gguf.layers_scored_by_width = 46;
    return family;
}

Family gemma3_text() {
    Family family = gemma2();
    family.model_type = "gemma3_text";
    family.gguf = "gemma3";
    family.describe = [](Architecture& model) {
        gemma2().describe(model);
        model.query_key_norms = QueryKeyNorms::alike;
    };
    family.score_cap = std::nullopt;
    family.logit_cap = 0;
    family.in_config.window_pattern = 6;
    family.in_config.bidirectional_flag = "use_bidirectional_attention";
    family.in_gguf.windowed_base = 10000;
    family.in_gguf.window = 0;
    family.in_gguf.window_pattern = 6;
    family.in_gguf.layers_scored_by_width = 62;
    family.in_gguf.of_images = {"v.", "mm."};
    return family;
}

}  // namespace roper::family
