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

/// Granite 3 with experts.
Family granitemoe() {
    Family family = granite();
    family.model_type = family.gguf = "granitemoe";
    // The names of published files, and those of transformers 5's own class.
    family.mixture_names = {{.router = "block_sparse_moe.router.layer",
                             .all_gate_up = "block_sparse_moe.input_linear.weight",
                             .all_down = "block_sparse_moe.output_linear.weight"},
                            {.router = "block_sparse_moe.router",
                             .all_gate_up = "block_sparse_moe.experts.gate_up_proj",
                             .all_down = "block_sparse_moe.experts.down_proj"}};
    for (MixtureNames& names : family.mixture_names) {
        names.shared_gate_up = "shared_mlp.input_linear";
        names.shared_down = "shared_mlp.output_linear";
    }
    family.config_rules.biases.feed_forward = {};
    family.config_rules.mixture = {.experts = {"num_local_experts", 8},
                                   .per_token = {"num_experts_per_tok", 2}};
    family.gguf_rules.biases = {if_present, if_present, never, never};
    family.gguf_rules.has_frequency_factors = false;
    family.gguf_rules.has_shared_width = true;
    return family;
}

Family granitemoeshared() {
    Family family = granitemoe();
    family.model_type = "granitemoeshared";
    family.config_rules.mixture.shared_feed_forward = {"shared_intermediate_size", 0};
    return family;
}

}  // namespace roper::family
