#include "core/pretrained/families/families.h"

namespace roper::family {

Family glm() {
    Family family = llamaLike("glm", "chatglm");
    family.names.gate_up = "mlp.gate_up_proj";
    family.config_rules.norm_epsilon = 1.5625e-7;
    family.config_rules.biases.query_key_value = {"attention_bias", true};
    family.gguf_rules.biases = {if_present, never, never, never};
    family.gguf_rules.interleaves = true;
    family.gguf_rules.gate_and_up_fused = true;
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
