#include "core/pretrained/families/families.h"

namespace roper::family {

Family gpt_neox() {
    Family family;
    family.model_type = "gpt_neox";
    family.gguf = "gptneox";
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.gated = false;
        model.activation = Activation::gelu;
    };
    family.names = {.embedding = "gpt_neox.embed_in",
                    .final_norm = "gpt_neox.final_layer_norm",
                    .head = "embed_out",
                    .layer = "gpt_neox.layers.{}.",
                    .attention_norm = "input_layernorm",
                    .query_key_value = "attention.query_key_value",
                    .output = "attention.dense",
                    .feed_forward_norm = "post_attention_layernorm",
                    .up = "mlp.dense_h_to_4h",
                    .down = "mlp.dense_4h_to_h"};
    family.interleaved_heads = true;
    family.config_rules.biases = {
        {always, always, always, never}, {"attention_bias", true}, {"attention_bias", true}};
    family.gguf_rules.biases = {always, always, always, never};
    family.parallel_flag = "use_parallel_residual";
    family.alternative_head = "lm_head";
    family.recomputed_suffixes = {".attention.bias", ".attention.masked_bias"};
    family.gguf_rules.old_files_use_gpt2_pattern = true;
    family.config_rules.ignored = {"num_steps"};
    return family;
}

}  // namespace roper::family
