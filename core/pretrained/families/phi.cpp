#include "core/pretrained/families/families.h"

namespace roper::family {

/// Phi 1 to 2.
Family phi() {
    Family family = llamaLike("phi", "phi2");
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.parallel = true;
        model.shares_norm = true;
        model.gated = false;
        model.activation = Activation::gelu_tanh;
        model.query_key_norms = QueryKeyNorms::alike;
    };
    family.names.final_norm = "model.final_layernorm";
    family.names.output = "self_attn.dense";
    family.names.query_norm = "self_attn.q_layernorm";
    family.names.key_norm = "self_attn.k_layernorm";
    family.names.up = "mlp.fc1";
    family.names.down = "mlp.fc2";
    family.in_config.query_key_norms_flag = "qk_layernorm";
    family.in_config.biases.plain = {always, always, always, always};
    family.in_gguf.biases = {always, always, always, always};
    return family;
}

/// Phi 3 and 4.
Family phi3() {
    Family family = llamaLike("phi3", "phi3");
    family.names.query_key_value = "self_attn.qkv_proj";
    family.names.gate_up = "mlp.gate_up_proj";
    family.in_config.norm_epsilon = 1e-5;
    family.in_config.windowed = WindowedLayers::all;
    family.in_config.window = 0;
    family.in_gguf.biases = {never, never, never, never};
    family.in_gguf.has_long_factors = true;
    family.in_gguf.fuses_gate = true;
    family.in_gguf.window_pattern = 0;
    return family;
}

}  // namespace roper::family
