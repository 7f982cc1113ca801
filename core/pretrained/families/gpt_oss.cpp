#include "core/pretrained/families/families.h"

namespace roper::family {

/// gpt-oss. GGUF files contain neither the constants of its feed-forward layers nor that the ends of YaRN's
/// ramp are not rounded, although llama.cpp rounds them.
Family gpt_oss() {
    Family family = llamaLike("gpt_oss", "gpt-oss");
    family.describe = [](Architecture& model) {
        model.has_sinks = true;
        model.gate_limit = 7;
        model.gate_steepness = 1.702;
        model.mixture.router_bias = model.mixture.expert_biases = true;
    };
    family.names.sinks = "self_attn.sinks";
    family.mixture_names = {{.router = "mlp.router",
                             .all_gate_up = "mlp.experts.gate_up_proj",
                             .all_down = "mlp.experts.down_proj",
                             .gate_up_bias = "mlp.experts.gate_up_proj_bias",
                             .down_bias = "mlp.experts.down_proj_bias"}};
    family.experts_transposed = family.experts_gate_up_interleaved = true;
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.gate_limit_key = "swiglu_limit";
    family.config_rules.gate_steepness_key = "swiglu_alpha";
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias", true};
    family.config_rules.windowed = WindowedLayers::all_but_every_nth;
    family.config_rules.window = 128;
    family.config_rules.ignored = {"experts_per_token", "initial_context_length"};
    family.config_rules.mixture = {.experts = {"num_local_experts", 128, "num_experts"},
                                   .per_token = {"num_experts_per_tok", 4}};
    family.gguf_rules.biases = {if_present, always, never, never};
    family.gguf_rules.feed_forward_norm = "post_attention_norm";
    family.gguf_rules.has_exact_yarn = true;
    family.gguf_rules.has_expert_width = true;
    family.gguf_rules.window_pattern = 2;
    return family;
}

}  // namespace roper::family
