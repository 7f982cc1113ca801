#include "core/pretrained/families/families.h"

namespace roper::family {

Family cohere() {
    Family family = llamaLike("cohere", "command-r");
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.norm_biases = false;
        model.parallel = true;
        model.shares_norm = true;
        model.query_key_norms = QueryKeyNorms::by_head;
    };
    family.in_config.tied = true;
    family.in_config.query_key_norms_flag = "use_qk_norm";
    family.in_config.logit_scale = {"logit_scale", 0.0625};
    family.in_config.biases.query_key_value = family.in_config.biases.output = {"attention_bias"};
    family.in_gguf.biases = {as_file, never, never, never};
    family.in_gguf.interleaves = true;
    family.in_gguf.has_logit_scale = true;
    return family;
}

Family cohere2() {
    Family family = cohere();
    family.model_type = family.gguf = "cohere2";
    family.describe = [](Architecture& model) {
        cohere().describe(model);
        model.query_key_norms = QueryKeyNorms::none;
    };
    family.in_config.query_key_norms_flag = nullptr;
    family.in_config.ignored = {
        "order_of_interleaved_layers", "position_embedding_type", "rotary_pct",
        "use_embedding_sharing",       "use_gated_activation",    "use_parallel_block",
        "use_parallel_embedding"};
    family.in_config.windowed = WindowedLayers::all_but_each_nth;
    family.in_config.window_pattern = 4;
    family.in_gguf.window_pattern = 4;
    family.in_gguf.rotates_windowed_alone = true;
    return family;
}

}  // namespace roper::family
