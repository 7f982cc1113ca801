#include "core/pretrained/families/families.h"

namespace roper::family {

Family starcoder2() {
    Family family = llamaLike("starcoder2", "starcoder2");
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.gated = false;
        model.activation = Activation::gelu_tanh;
    };
    family.names.up = "mlp.c_fc";
    family.names.down = "mlp.c_proj";
    family.config_rules.tied = true;
    family.config_rules.ignored = {
        "activation_function", "attention_softmax_in_fp32",       "mlp_type",
        "norm_type",           "scale_attention_softmax_in_fp32", "scale_attn_weights"};
    family.config_rules.norm_epsilon_key = "norm_epsilon";
    family.config_rules.windowed = WindowedLayers::all;
    family.config_rules.window = 0;
    family.config_rules.biases.query_key_value = {"use_bias", true};
    family.config_rules.biases.output = family.config_rules.biases.feed_forward =
        family.config_rules.biases.query_key_value;
    family.gguf_rules.biases = {if_present, if_present, if_present, never};
    family.gguf_rules.window_pattern = 0;
    return family;
}

}  // namespace roper::family
