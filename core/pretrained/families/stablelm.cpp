#include "core/pretrained/families/families.h"

namespace roper::family {

Family stablelm() {
    Family family = llamaLike("stablelm", "stablelm");
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.shares_norm = true;
        model.query_key_norms = QueryKeyNorms::per_head;
        model.query_key_norm_biases = false;
    };
    family.names.query_norm = "self_attn.q_layernorm.norms.{}";
    family.names.key_norm = "self_attn.k_layernorm.norms.{}";
    family.config_rules.query_key_norms_flag = "qk_layernorm";
    family.parallel_flag = "use_parallel_residual";
    family.parallel_by_default = false;
    family.config_rules.biases.query_key_value = {"use_qkv_bias"};
    return family;
}

}  // namespace roper::family
