#include "core/pretrained/families/families.h"

namespace roper::family {

/// GPT-J 6B. llama.cpp's converter does not write it.
Family gptj() {
    Family family;
    family.model_type = "gptj";
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.parallel = true;
        model.shares_norm = true;
        model.gated = false;
        model.activation = Activation::gelu_tanh;
    };
    family.names = {.embedding = "transformer.wte",
                    .final_norm = "transformer.ln_f",
                    .head = "lm_head",
                    .layer = "transformer.h.{}.",
                    .attention_norm = "ln_1",
                    .query = "attn.q_proj",
                    .key = "attn.k_proj",
                    .value = "attn.v_proj",
                    .output = "attn.out_proj",
                    .up = "mlp.fc_in",
                    .down = "mlp.fc_out"};
    family.config_rules.biases.plain = {never, never, always, always};
    family.config_rules.feed_forward_factor = 4;
    family.config_rules.activation_key = "activation_function";
    family.config_rules.ignored = {"gradient_checkpointing", "scale_attn_weights"};
    family.recomputed_suffixes = {".attn.bias", ".attn.masked_bias"};
    family.config_rules.norm_epsilon_key = "layer_norm_epsilon";
    return family;
}

/// CodeGen 1, trained on four machines, each with a quarter of the heads.
Family codegen() {
    Family family = gptj();
    family.model_type = "codegen";
    family.names.query_key_value = "attn.qkv_proj";
    family.query_value_key_parts = 4;
    family.recomputed_suffixes = {".attn.causal_mask"};
    return family;
}

}  // namespace roper::family
