#include <cmath>

#include "core/model_config/config_fields.h"
#include "core/pretrained/families/families.h"

namespace roper::family {

/// LongCat Flash (arXiv 2509.01322). A layer of its files has two attentions and two dense feed-forwards,
/// which are two layers in `Architecture`, and a mixture, which reads what the first feed-forward reads and
/// is added at the end.
Family longcat_flash() {
    Family family = deepseek_v3();
    family.model_type = "longcat_flash";
    family.gguf = "";
    family.has_mtp_layers = false;
    family.mtp_name_parts = {"model.mtp."};
    family.describe = [](Architecture& model) {
        model.mixture.skips_layer = true;
        model.mixture.choice_bias = true;
        model.mixture.normalizes = false;
        model.mixture.scale = 6;
    };
    for (std::string* const name :
         {&family.names.query, &family.names.output, &family.latent_names.query_down,
          &family.latent_names.query_norm, &family.latent_names.query_up, &family.latent_names.down,
          &family.latent_names.norm, &family.latent_names.up})
        name->insert(std::string("self_attn").size(), ".[]");
    for (std::string* const name : {&family.names.gate, &family.names.up, &family.names.down})
        name->insert(std::string("mlp").size(), "s.[]");
    family.names.attention_norm += ".[]";
    family.names.feed_forward_norm += ".[]";
    MixtureNames& names = family.mixture_names.front();
    names.router = "mlp.router.classifier";
    names.choice_bias = "mlp.router.e_score_correction_bias";
    ConfigRules& rules = family.config_rules;
    rules.sizes = {.layers = "num_layers", .feed_forward = "ffn_hidden_size", .attentions_of_layer = 2};
    rules.context = 131072;
    rules.norm_epsilon = 1e-5;
    rules.mixture = {.experts = {"n_routed_experts", 512, "num_local_experts"},
                     .per_token = {"moe_topk", 12, "num_experts_per_tok"},
                     .feed_forward = {"expert_ffn_hidden_size", 2048, "moe_intermediate_size"},
                     .layers = MixtureLayers::every_second,
                     .identity_experts = {"zero_expert_num", 256},
                     .scale_key = "routed_scaling_factor"};
    // The class has one kind of attention, whose latent vectors it scales, and one kind of identity experts.
    rules.ignored = {"head_dim",         "router_dtype",      "attention_method",
                     "mla_scale_q_lora", "mla_scale_kv_lora", "zero_expert_type"};
    rules.read_layers = [](const ConfigFields& config, Architecture& model) {
        LatentAttention& latent = model.latent;
        if (latent.query_rank == 0) config.refuse("q_lora_rank", "is null; queries have a latent vector");
        if (config.integer("qk_head_dim", 1, kMaxHeadDim).value_or(static_cast<int>(model.head_dim)) !=
            model.head_dim)
            config.refuse("qk_head_dim", "must be the sum of qk_nope_head_dim and qk_rope_head_dim");
        const auto width = static_cast<double>(model.width);
        latent.query_scale = std::sqrt(width / static_cast<double>(latent.query_rank));
        latent.scale = std::sqrt(width / static_cast<double>(latent.rank));
    };
    return family;
}

}  // namespace roper::family
