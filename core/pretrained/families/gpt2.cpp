#include "core/pretrained/families/families.h"

namespace roper::family {

Family gpt2() {
    Family family;
    family.model_type = family.gguf = "gpt2";
    family.rotates = false;
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.gated = false;
        model.learned_positions = true;
        model.activation = Activation::gelu_tanh;
    };
    family.names = {.embedding = "transformer.wte",
                    .positions = "transformer.wpe",
                    .final_norm = "transformer.ln_f",
                    .head = "lm_head",
                    .layer = "transformer.h.{}.",
                    .attention_norm = "ln_1",
                    .query_key_value = "attn.c_attn",
                    .output = "attn.c_proj",
                    .feed_forward_norm = "ln_2",
                    .up = "mlp.c_fc",
                    .down = "mlp.c_proj"};
    family.transposed = true;
    family.config_rules.biases.plain = {always, always, always, never};
    family.gguf_rules.biases = {always, always, always, never};
    family.config_rules.context = 1024;
    family.config_rules.feed_forward_factor = 4;
    family.config_rules.activation_key = "activation_function";
    family.config_rules.tied = true;
    family.config_rules.scales_scores_flag = "scale_attn_weights";
    family.config_rules.scales_by_layer_flag = "scale_attn_by_inverse_layer_idx";
    family.recomputed_suffixes = {".attn.bias", ".attn.masked_bias"};
    family.gguf_rules.old_files_use_gpt2_pattern = true;
    family.config_rules.ignored = {"line_by_line", "n_special", "n_vocab", "output_past",
                                   "predict_special_tokens"};
    family.config_rules.norm_epsilon_key = "layer_norm_epsilon";
    return family;
}

}  // namespace roper::family
