#include "core/pretrained/families/families.h"

namespace roper::family {

Family granite() {
    Family family = llamaLike("granite", "granite");
    family.config_rules.embedding_scale = {"embedding_multiplier"};
    family.config_rules.residual_scale = {"residual_multiplier"};
    family.config_rules.score_scale = {"attention_multiplier"};
    family.config_rules.logit_divisor = {"logits_scaling"};
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    family.gguf_rules.biases = {if_present, if_present, if_present, never};
    family.gguf_rules.interleaves = true;
    family.gguf_rules.has_frequency_factors = true;
    family.gguf_rules.has_scales = true;
    return family;
}

}  // namespace roper::family
