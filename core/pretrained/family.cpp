#include "core/pretrained/family.h"

#include "core/pretrained/families/families.h"

namespace roper {

const std::vector<Family>& families() {
    static const std::vector<Family> all = {
#define ROPER_MAKE(NAME) family::NAME(),
        ROPER_FAMILIES(ROPER_MAKE)
#undef ROPER_MAKE
    };
    return all;
}

const Family* findFamily(const std::string& model_type) {
    for (const Family& family : families())
        if (model_type == family.model_type) return &family;
    return nullptr;
}

const Family* findGgufFamily(const std::string& architecture) {
    for (const Family& family : families())
        for (const char* const name : {family.gguf, family.gguf_embedding})
            if (*name != '\0' && architecture == name) return &family;
    return nullptr;
}

const ModelNames& ggufNames() {
    static const ModelNames names = {
        .names = {.embedding = "token_embd",
                  .embedding_norm = "token_embd_norm",
                  .positions = "position_embd",
                  .final_norm = "output_norm",
                  .head = "output",
                  .layer = "blk.{}.",
                  .attention_norm = "attn_norm",
                  .query = "attn_q",
                  .key = "attn_k",
                  .value = "attn_v",
                  .query_key_value = "attn_qkv",
                  .output = "attn_output",
                  .query_norm = "attn_q_norm",
                  .key_norm = "attn_k_norm",
                  .after_attention_norm = "post_attention_norm",
                  .feed_forward_norm = "ffn_norm",
                  .gate = "ffn_gate",
                  .up = "ffn_up",
                  .down = "ffn_down",
                  .after_feed_forward_norm = "post_ffw_norm",
                  .sinks = "attn_sinks.weight"},
        .mixture_names = {{.router = "ffn_gate_inp",
                           .choice_bias = "exp_probs_b.bias",
                           // files written before February 2024
                           .gate = "ffn_gate.{}",
                           .up = "ffn_up.{}",
                           .down = "ffn_down.{}",
                           .all_gate = "ffn_gate_exps.weight",
                           .all_up = "ffn_up_exps.weight",
                           .all_gate_up = "ffn_gate_up_exps.weight",
                           .all_down = "ffn_down_exps.weight",
                           .gate_bias = "ffn_gate_exps.bias",
                           .up_bias = "ffn_up_exps.bias",
                           .gate_up_bias = "ffn_gate_up_exps.bias",
                           .down_bias = "ffn_down_exps.bias",
                           .shared_gate = "ffn_gate_shexp",
                           .shared_up = "ffn_up_shexp",
                           .shared_down = "ffn_down_shexp",
                           .shared_switch = "ffn_gate_inp_shexp"}},
        .latent_names = {.query_down = "attn_q_a",
                         .query_norm = "attn_q_a_norm",
                         .query_up = "attn_q_b",
                         .down = "attn_kv_a_mqa",
                         .norm = "attn_kv_a_norm",
                         .up = "attn_kv_b",  // files written before April 2025
                         .keys = "attn_k_b",
                         .values = "attn_v_b",
                         .indexer_query = "indexer.attn_q_b",
                         .indexer_key = "indexer.attn_k",
                         .indexer_key_norm = "indexer.k_norm",
                         .indexer_heads = "indexer.proj"},
        .convolution_names = {"shortconv.in_proj", "shortconv.conv", "shortconv.out_proj"},
        .delta_names = {.query_key_value = "attn_qkv",
                        .gate = "attn_gate",
                        .beta = "ssm_beta",
                        .decay = "ssm_alpha",
                        .beta_decay = "ssm_ba",
                        .taps = "ssm_conv1d",
                        .norm = "ssm_norm",
                        .out = "ssm_out",
                        .decay_bias = "ssm_dt.bias",
                        .decay_scale = "ssm_a"},
        .encoder_names = {.token_types = "token_types"},
        .gemma_names = {.layer_table = "per_layer_token_embd",
                        .layer_projection = "per_layer_model_proj",
                        .layer_projection_norm = "per_layer_proj_norm",
                        .layer_gate = "inp_gate",
                        .layer_up = "proj",
                        .layer_norm = "post_norm",
                        .streams_in = "altup_proj",
                        .streams_out = "altup_unembd_proj",
                        .stream_router_norm = "altup_router_norm",
                        .stream_router = "altup_router",
                        .predict = "altup_predict_coef",
                        .correct = "altup_correct_coef",
                        .active_scale = "altup_correct_scale.weight",
                        .laurel_left = "laurel_l",
                        .laurel_right = "laurel_r",
                        .laurel_norm = "laurel_post_norm",
                        .layer_scale = "layer_output_scale.weight",
                        .router_scale = "ffn_gate_inp.scale",
                        .expert_scales = "ffn_down_exps.scale",
                        .before_experts = "pre_ffw_norm_2",
                        .after_experts = "post_ffw_norm_2",
                        .after_dense = "post_ffw_norm_1"},
    };
    return names;
}

const std::vector<std::string>& knownFamilies() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> made;
        for (const Family& family : families())
            if (!family.trained_here) made.emplace_back(family.model_type);
        return made;
    }();
    return names;
}

}  // namespace roper
