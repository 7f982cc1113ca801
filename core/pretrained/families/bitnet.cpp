#include "core/pretrained/families/families.h"

namespace roper::family {

/// BitNet b1.58. llama.cpp's converter writes its GGUF files under the name of an older model, whose
/// activation is another, so that none are read.
Family bitnet() {
    Family family = llamaLike("bitnet", "");
    family.describe = [](Architecture& model) {
        model.norms_inner = true;
        model.activation = Activation::relu_squared;
    };
    family.names.mixed_norm = "self_attn.attn_sub_norm";
    family.names.down_norm = "mlp.ffn_sub_norm";
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    return family;
}

}  // namespace roper::family
