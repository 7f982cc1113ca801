#include "core/pretrained/families/families.h"

namespace roper::family {

Family exaone4() {
    Family family = olmo2();
    family.model_type = family.gguf = "exaone4";
    family.describe = [](Architecture& model) {
        olmo2().describe(model);
        model.query_key_norms = QueryKeyNorms::shared_weights;
    };
    family.config_rules.biases = {};
    family.config_rules.biases.plain = {never, never, never, never};
    family.config_rules.windowed = WindowedLayers::all_but_every_nth;
    family.config_rules.window_pattern = 4;
    family.gguf_rules.scales_only_full_attention = false;
    family.gguf_rules.rotates_only_windowed = true;
    family.gguf_rules.has_frequency_factors = true;
    return family;
}

/// K-EXAONE, which chooses experts like GLM 4.5.
Family exaone_moe() {
    Family family = llamaLike("exaone_moe", "exaone-moe");
    family.describe = [](Architecture& model) {
        glm4_moe().describe(model);
        model.mixture.scale = 2.5;
    };
    family.mixture_names = glm4_moe().mixture_names;
    family.mixture_names.front().other_choice_bias = "mlp.e_score_correction_bias";
    family.mtp_name_parts = {"mtp"};
    family.has_mtp_layers = true;
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.windowed = WindowedLayers::all_but_every_nth;
    family.config_rules.window_pattern = 4;
    family.config_rules.ignored = {
        "first_k_dense_replace", "first_last_k_dense_replace", "is_moe_layer", "mtp_loss_scaling_factor",
        "mtp_share_layers",      "num_nextn_predict_layers",   "scoring_func", "topk_method"};
    family.config_rules.mixture = glm4_moe().config_rules.mixture;
    family.config_rules.mixture.experts = {"num_experts", 64, "num_local_experts"};
    family.config_rules.mixture.feed_forward.default_value = 1024;
    family.config_rules.mixture.shared_experts = {"num_shared_experts", 1};
    family.config_rules.mixture.layers = MixtureLayers::listed_or_after_first_dense;
    family.gguf_rules.has_expert_width = family.gguf_rules.has_shared_count = true;
    family.gguf_rules.has_dense_first = family.gguf_rules.expert_weights_norm_off_by_default = true;
    family.gguf_rules.has_frequency_factors = true;
    family.gguf_rules.rotates_only_windowed = true;
    family.gguf_rules.window = 128;
    family.gguf_rules.window_pattern = 4;
    return family;
}

}  // namespace roper::family
