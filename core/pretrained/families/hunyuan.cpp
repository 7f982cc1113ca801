#include "core/pretrained/families/families.h"

namespace roper::family {

Family hunyuan_v1_dense() {
    Family family = llamaLike("hunyuan_v1_dense", "hunyuan-dense");
    family.describe = [](Architecture& model) {
        model.query_key_norms = QueryKeyNorms::shared_weights;
        model.norms_rotated = true;
    };
    family.names.query_norm = "self_attn.query_layernorm";
    family.names.key_norm = "self_attn.key_layernorm";
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    // Members of published configs that transformers' class does not read.
    family.config_rules.ignored = {"add_classification_head",
                                   "anyres_pooling_size",
                                   "attention_head_dim",
                                   "cla_share_factor",
                                   "class_num",
                                   "dense_list",
                                   "group_limited_greedy",
                                   "im_end_id",
                                   "im_newline_id",
                                   "im_start_id",
                                   "kv_lora_rank",
                                   "mask_init_id",
                                   "moe_drop_tokens",
                                   "moe_intermediate_size",
                                   "moe_layer_num_skipped",
                                   "moe_random_routing_dropped_token",
                                   "n_group",
                                   "norm_topk_prob",
                                   "norm_type",
                                   "num_media_embeds",
                                   "num_shared_expert",
                                   "org_vocab_size",
                                   "pad_id",
                                   "pool_type",
                                   "position_embedding_xdrope",
                                   "q_lora_rank",
                                   "qk_nope_head_dim",
                                   "routed_scaling_factor",
                                   "skip_cls_token",
                                   "text_end_id",
                                   "text_start_id",
                                   "topk_group",
                                   "use_cla",
                                   "use_mixed_mlp_moe",
                                   "use_mla",
                                   "use_qk_norm",
                                   "v_head_dim",
                                   "video_end_id",
                                   "video_start_id"};
    return family;
}

/// Hunyuan A13B.
Family hunyuan_v1_moe() {
    Family family = hunyuan_v1_dense();
    family.model_type = "hunyuan_v1_moe";
    family.gguf = "hunyuan-moe";
    MixtureNames names = qwenMixtureNames();
    names.router = "mlp.gate.wg";
    names.shared_gate = "mlp.shared_mlp.gate_proj";
    names.shared_up = "mlp.shared_mlp.up_proj";
    names.shared_down = "mlp.shared_mlp.down_proj";
    family.mixture_names = {names};
    family.config_rules.mixture = {.experts = {"num_experts", 1, "num_local_experts"},
                                   .per_token = {"moe_topk", 1, "num_experts_per_tok"},
                                   .is_shared = true};
    family.gguf_rules.has_expert_width = family.gguf_rules.has_shared_width = true;
    for (const char* const of_images :
         {"vit_input_resolution", "vit_mapping_type", "vit_norm_type", "vit_patch", "vit_token"})
        family.config_rules.ignored.emplace_back(of_images);
    return family;
}

}  // namespace roper::family
