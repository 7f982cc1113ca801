#include "core/pretrained/families/families.h"

namespace roper::family {

Family granite() {
    Family family = llamaLike("granite", "granite");
    family.in_config.embedding_scale = {"embedding_multiplier"};
    family.in_config.residual_scale = {"residual_multiplier"};
    family.in_config.score_scale = {"attention_multiplier"};
    family.in_config.logit_divisor = {"logits_scaling"};
    family.in_config.biases.query_key_value = family.in_config.biases.output = {"attention_bias"};
    family.in_config.biases.feed_forward = {"mlp_bias"};
    family.in_gguf.biases = {as_file, as_file, as_file, never};
    family.in_gguf.interleaves = true;
    family.in_gguf.has_frequency_factors = true;
    family.in_gguf.has_scales = true;
    return family;
}

}  // namespace roper::family
