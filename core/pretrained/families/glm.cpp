#include "core/pretrained/families/families.h"

namespace roper::family {

Family glm() {
    Family family = llamaLike("glm", "chatglm");
    family.names.gate_up = "mlp.gate_up_proj";
    family.in_config.norm_epsilon = 1.5625e-7;
    family.in_config.biases.query_key_value = {"attention_bias", true};
    family.in_gguf.biases = {as_file, never, never, never};
    family.in_gguf.interleaves = true;
    family.in_gguf.fuses_gate = true;
    return family;
}

Family glm4() {
    Family family = glm();
    family.model_type = family.gguf = "glm4";
    family.describe = [](Architecture& model) { model.norms_after = true; };
    family.names.after_attention_norm = "post_self_attn_layernorm";
    family.names.after_feed_forward_norm = "post_mlp_layernorm";
    return family;
}

}  // namespace roper::family
