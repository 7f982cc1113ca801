#include "core/pretrained/families/families.h"

namespace roper::family {

Family cohere() {
    Family family = llamaLike("cohere", "command-r");
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.norm_biases = false;
        model.parallel = true;
        model.shares_norm = true;
        model.query_key_norms = QueryKeyNorms::per_head;
    };
    family.config_rules.tied = true;
    family.config_rules.query_key_norms_flag = "use_qk_norm";
    family.config_rules.logit_scale = {"logit_scale", 0.0625};
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.gguf_rules.interleaves = true;
    family.gguf_rules.has_logit_scale = true;
    family.config_rules.ignored = {"position_embedding_type", "use_embedding_sharing", "use_gated_activation",
                                   "use_parallel_block"};
    return family;
}

Family cohere2() {
    Family family = cohere();
    family.model_type = family.gguf = "cohere2";
    family.describe = [](Architecture& model) {
        cohere().describe(model);
        model.query_key_norms = QueryKeyNorms::none;
    };
    family.config_rules.query_key_norms_flag = nullptr;
    family.config_rules.ignored = {
        "layer_switch",       "order_of_interleaved_layers", "position_embedding_type",
        "rotary_pct",         "use_embedding_sharing",       "use_gated_activation",
        "use_parallel_block", "use_parallel_embedding"};
    family.config_rules.windowed = WindowedLayers::all_but_every_nth;
    family.config_rules.window_pattern = 4;
    family.gguf_rules.window_pattern = 4;
    family.gguf_rules.rotates_only_windowed = true;
    return family;
}

}  // namespace roper::family
