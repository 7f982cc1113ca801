#include "core/pretrained/families/families.h"
#include "core/pretrained/feature_reading.h"

namespace roper::family {

Family qwen2() {
    Family family = llamaLike("qwen2", "qwen2");
    family.config_rules.biases.plain.query_key_value = always;
    family.gguf_rules.biases = {if_present, if_present, never, if_present};
    family.config_rules.windowed = WindowedLayers::from_max_window_on;
    family.config_rules.window_flag = "use_sliding_window";
    family.gguf_rules.requires_full_rotation = true;
    return family;
}

Family qwen3() {
    Family family = llamaLike("qwen3", "qwen3");
    family.describe = [](Architecture& model) { model.query_key_norms = QueryKeyNorms::shared_weights; };
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.gguf_rules.biases = {if_present, if_present, never, never};
    family.config_rules.windowed = WindowedLayers::from_max_window_on;
    family.config_rules.window_flag = "use_sliding_window";
    family.gguf_rules.requires_full_rotation = true;
    return family;
}

namespace {

MixtureRules qwenMixture(int per_token, int width) {
    return {.experts = {"num_experts", 0, "num_local_experts"},
            .per_token = {"num_experts_per_tok", per_token},
            .feed_forward = {"moe_intermediate_size", width},
            .layers = MixtureLayers::by_sparse_step,
            .normalizes_flag = "norm_topk_prob"};
}

}  // namespace

/// Qwen 1.5 and 2 with experts.
Family qwen2_moe() {
    Family family = llamaLike("qwen2_moe", "qwen2moe");
    family.describe = [](Architecture& model) {
        model.mixture.shared_is_gated = true;
        // GGUF files do not say this; llama.cpp does not divide them by their sum, either.
        model.mixture.normalizes = false;
    };
    MixtureNames names = qwenMixtureNames();
    names.shared_gate = "mlp.shared_expert.gate_proj";
    names.shared_up = "mlp.shared_expert.up_proj";
    names.shared_down = "mlp.shared_expert.down_proj";
    names.shared_switch = "mlp.shared_expert_gate";
    family.mixture_names = {names};
    family.config_rules.biases.query_key_value = {"qkv_bias", true};
    family.config_rules.windowed = WindowedLayers::second_before_max_window;
    family.config_rules.window_flag = "use_sliding_window";
    family.config_rules.mixture = qwenMixture(4, 1408);
    family.config_rules.mixture.experts = {"num_experts", 60};
    family.config_rules.mixture.shared_feed_forward = {"shared_expert_intermediate_size", 5632};
    family.gguf_rules.requires_full_rotation = true;
    family.gguf_rules.has_expert_width = family.gguf_rules.has_shared_width = true;
    return family;
}

Family qwen3_moe() {
    Family family = qwen3();
    family.model_type = "qwen3_moe";
    family.gguf = "qwen3moe";
    family.mixture_names = {qwenMixtureNames()};
    family.config_rules.windowed = WindowedLayers::all;
    family.config_rules.mixture = qwenMixture(8, 768);
    family.config_rules.mixture.experts.default_value = 128;
    family.gguf_rules.has_expert_width = true;
    family.config_rules.ignored = {"qk_norm", "shared_expert_intermediate_size", "use_qk_norm"};
    return family;
}

namespace {

/// Gated delta rules in most layers, and attention with gated heads in the others.
Family qwenHybrid(const char* model_type, const char* gguf_name) {
    Family family = llamaLike(model_type, gguf_name);
    family.describe = [](Architecture& model) {
        model.norm_adds_one = true;
        model.query_key_norms = QueryKeyNorms::shared_weights;
        model.gates_heads = true;
    };
    family.delta_names = {.query_key_value = "linear_attn.in_proj_qkv",
                          .gate = "linear_attn.in_proj_z",
                          .beta = "linear_attn.in_proj_b",
                          .decay = "linear_attn.in_proj_a",
                          .taps = "linear_attn.conv1d",
                          .norm = "linear_attn.norm",
                          .out = "linear_attn.out_proj",
                          .decay_bias = "linear_attn.dt_bias",
                          .decay_log = "linear_attn.A_log"};
    family.mtp_name_parts = {"mtp."};
    family.has_mtp_layers = true;
    ConfigRules& rules = family.config_rules;
    rules.context = 32768;
    rules.biases.query_key_value = rules.biases.output = {"attention_bias"};
    rules.read_layers = readGatedDelta;
    rules.ignored = {"mamba_ssm_dtype", "mtp_num_hidden_layers"};
    GgufRules& gguf = family.gguf_rules;
    gguf.feed_forward_norm = "post_attention_norm";
    gguf.read_layers = readGgufGatedDelta;
    return family;
}

void addQwenExperts(int experts, int per_token, Family& family) {
    family.mixture_names = qwen2_moe().mixture_names;
    MixtureRules& mixture = family.config_rules.mixture;
    mixture = qwenMixture(per_token, 512);
    mixture.experts = {"num_experts", experts};
    mixture.shared_feed_forward = {"shared_expert_intermediate_size", 512};
    mixture.normalizes_usually = true;
    family.gguf_rules.has_expert_width = family.gguf_rules.has_shared_width = true;
}

}  // namespace

Family qwen3_next() {
    Family family = qwenHybrid("qwen3_next", "qwen3next");
    family.describe = [](Architecture& model) {
        qwenHybrid("", "").describe(model);
        model.mixture.shared_is_gated = true;
    };
    family.delta_names.query_key_value_gate = "linear_attn.in_proj_qkvz";
    family.delta_names.beta_decay = "linear_attn.in_proj_ba";
    addQwenExperts(512, 10, family);
    return family;
}

/// The language model of Qwen 3.5. In its GGUF files, value heads are in another order.
Family qwen3_5_text() {
    Family family = qwenHybrid("qwen3_5_text", "qwen35");
    family.config_rules.ignored.emplace_back("mlp_only_layers");
    family.gguf_rules.read_layers = [](const GgufEntries& entries, Architecture& model) {
        readGgufGatedDelta(entries, model);
        model.gated_delta.is_tiled = true;
    };
    return family;
}

Family qwen3_5_moe_text() {
    Family family = qwen3_5_text();
    family.model_type = "qwen3_5_moe_text";
    family.gguf = "qwen35moe";
    family.describe = qwen3_next().describe;
    addQwenExperts(256, 8, family);
    family.config_rules.sizes.feed_forward = "moe_intermediate_size";  // no layer is dense
    family.config_rules.mixture.layers = MixtureLayers::all;
    family.config_rules.mixture.normalizes_flag = nullptr;
    return family;
}

/// The language model of Qwen 2 VL. A token of text has the same position in all pairs, which turn as in
/// Qwen 2.
Family qwen2_vl_text() {
    Family family = qwen2();
    family.model_type = "qwen2_vl_text";
    family.gguf = "qwen2vl";
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.max_window_layers = 80;
    return family;
}

Family qwen2_5_vl_text() {
    Family family = qwen2_vl_text();
    family.model_type = "qwen2_5_vl_text";
    return family;
}

/// The language model of Qwen 3 VL; its pairs turn as in Qwen 3.
Family qwen3_vl_text() {
    Family family = qwen3();
    family.model_type = "qwen3_vl_text";
    family.gguf = "qwen3vl";
    family.config_rules.windowed = WindowedLayers::none;
    family.config_rules.window_flag = nullptr;
    return family;
}

Family qwen3_vl_moe_text() {
    Family family = qwen3_moe();
    family.model_type = "qwen3_vl_moe_text";
    family.gguf = "qwen3vlmoe";
    MixtureNames& names = family.mixture_names.front();
    names.all_gate_up = "mlp.experts.gate_up_proj";
    names.all_down = "mlp.experts.down_proj";
    family.experts_may_be_transposed = true;
    family.config_rules.tied = true;
    family.config_rules.windowed = WindowedLayers::none;
    family.config_rules.window_flag = nullptr;
    MixtureRules& mixture = family.config_rules.mixture;
    mixture = qwenMixture(4, 1408);
    mixture.experts.default_value = 60;
    mixture.normalizes_flag = nullptr;  // weights are always divided by their sum
    family.config_rules.ignored.emplace_back("norm_topk_prob");
    return family;
}

}  // namespace roper::family
