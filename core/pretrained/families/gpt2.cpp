#include "core/pretrained/families/families.h"

namespace roper::family {
namespace {

TensorNames gpt2Names() {
    TensorNames names;
    names.embedding = "transformer.wte";
    names.positions = "transformer.wpe";
    names.final_norm = "transformer.ln_f";
    names.head = "lm_head";
    names.layer = "transformer.h.{}.";
    names.attention_norm = "ln_1";
    names.query_key_value = "attn.c_attn";
    names.output = "attn.c_proj";
    names.feed_forward_norm = "ln_2";
    names.up = "mlp.c_fc";
    names.down = "mlp.c_proj";
    return names;
}

}  // namespace

Family gpt2() {
    Family family;
    family.model_type = family.gguf = "gpt2";
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.gated = false;
        model.learned_positions = true;
        model.activation = Activation::gelu_tanh;
    };
    family.names = gpt2Names();
    family.transposed = true;
    family.in_config.biases.plain = {always, always, always, never};
    family.in_gguf.biases = {always, always, always, never};
    family.in_config.context = 1024;
    family.in_config.feed_forward_by_width = 4;
    family.in_config.activation_key = "activation_function";
    family.in_config.tied = true;
    family.in_config.scales_scores_flag = "scale_attn_weights";
    family.in_config.scales_by_layer_flag = "scale_attn_by_inverse_layer_idx";
    family.made_by_its_class = {".attn.bias", ".attn.masked_bias"};
    family.in_gguf.old_files_cut_as_gpt2 = true;
    return family;
}

}  // namespace roper::family
