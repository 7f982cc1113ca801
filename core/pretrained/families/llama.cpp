#include "core/pretrained/families/families.h"

namespace roper::family {

std::vector<MixtureNames> mixtralNames() {
    return {{.router = "block_sparse_moe.gate",
             .choice_bias = "block_sparse_moe.e_score_correction_bias",
             .gate = "block_sparse_moe.experts.{}.w1",
             .up = "block_sparse_moe.experts.{}.w3",
             .down = "block_sparse_moe.experts.{}.w2"},
            {.router = "mlp.gate",
             .choice_bias = "mlp.e_score_correction_bias",
             .all_gate_up = "mlp.experts.gate_up_proj",
             .all_down = "mlp.experts.down_proj"}};
}

MixtureNames qwenMixtureNames() {
    return {.router = "mlp.gate",
            .gate = "mlp.experts.{}.gate_proj",
            .up = "mlp.experts.{}.up_proj",
            .down = "mlp.experts.{}.down_proj",
            .all_gate_up = "mlp.experts.gate_up_proj",
            .all_down = "mlp.experts.down_proj"};
}

Family llamaLike(const char* model_type, const char* gguf) {
    Family family;
    family.model_type = model_type;
    family.gguf = gguf;
    family.names = {.embedding = "model.embed_tokens",
                    .final_norm = "model.norm",
                    .head = "lm_head",
                    .layer = "model.layers.{}.",
                    .attention_norm = "input_layernorm",
                    .query = "self_attn.q_proj",
                    .key = "self_attn.k_proj",
                    .value = "self_attn.v_proj",
                    .output = "self_attn.o_proj",
                    .query_norm = "self_attn.q_norm",
                    .key_norm = "self_attn.k_norm",
                    .feed_forward_norm = "post_attention_layernorm",
                    .gate = "mlp.gate_proj",
                    .up = "mlp.up_proj",
                    .down = "mlp.down_proj"};
    family.config_rules.biases.plain = {never, never, never, never};
    family.gguf_rules.biases = {if_present, never, never, never};
    return family;
}

Family llama() {
    Family family = llamaLike("llama", "llama");
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    family.gguf_rules.interleaves = true;
    family.gguf_rules.biases = {if_present, if_present, if_present, never};
    family.gguf_rules.requires_full_rotation = true;
    family.gguf_rules.has_frequency_factors = true;
    family.gguf_rules.with_experts = "mixtral";
    family.gguf_rules.window_pattern =
        0;  // for Mistral's models, whose GGUF files name the architecture llama
    // Members of published configs of SmolLM, SmolVLM and Falcon 3 that the class does not read.
    family.config_rules.ignored = {"activation", "is_llama_config", "perceiver_config",
                                   "pixel_shuffle_factor", "transformers.js_config"};
    return family;
}

Family mistral() {
    Family family = llamaLike("mistral", "llama");
    family.gguf_rules.interleaves = true;
    family.config_rules.windowed = WindowedLayers::all_unless_listed;
    family.gguf_rules.has_frequency_factors = true;
    return family;
}

Family mixtral() {
    Family family = llamaLike("mixtral", "llama");
    family.mixture_names = mixtralNames();
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.windowed = WindowedLayers::all;
    family.config_rules.window = 0;
    family.config_rules.mixture = {.experts = {"num_local_experts", 8, "num_experts"},
                                   .per_token = {"num_experts_per_tok", 2}};
    family.gguf_rules.biases = {if_present, if_present, never, never};
    family.gguf_rules.interleaves = true;
    family.gguf_rules.requires_full_rotation = true;
    family.gguf_rules.has_frequency_factors = true;
    family.gguf_rules.window_pattern = 0;
    return family;
}

Family ministral() {
    Family family = llamaLike("ministral", "");
    family.config_rules.windowed = WindowedLayers::all_unless_listed;
    return family;
}

Family ministral3() {
    Family family = llamaLike("ministral3", "mistral3");
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.windowed = WindowedLayers::all;
    family.config_rules.window = 0;
    family.queries_grow = true;
    family.gguf_rules.biases = {never, never, never, never};
    family.gguf_rules.interleaves = true;
    return family;
}

/// The language model of Llama 4. GGUF files do not contain the length of chunks, the growth of queries, and
/// whether these are normalized; llama.cpp's code has the values of the published models.
Family llama4_text() {
    Family family = llamaLike("llama4_text", "llama4");
    family.describe = [](Architecture& model) {
        model.query_key_norms = QueryKeyNorms::shared_weights;
        model.query_key_norm_weights = false;
        model.norms_rotated = true;
        model.norms_unrotated_layers = false;
        model.query_growth = 0.1;
        model.query_growth_length = 8192;
        model.query_growth_offset = 1;
        model.grows_rotated_layers = false;
        model.mixture.scores = RouterScores::sigmoid;
        model.mixture.normalizes = false;
        model.mixture.weighs_inputs = true;
    };
    for (std::string* const name : {&family.names.gate, &family.names.up, &family.names.down})
        name->replace(0, std::string("mlp").size(), "feed_forward");
    family.mixture_names = {{.router = "feed_forward.router",
                             .all_gate_up = "feed_forward.experts.gate_up_proj",
                             .all_down = "feed_forward.experts.down_proj",
                             .shared_gate = "feed_forward.shared_expert.gate_proj",
                             .shared_up = "feed_forward.shared_expert.up_proj",
                             .shared_down = "feed_forward.shared_expert.down_proj"}};
    family.experts_transposed = true;
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.query_key_norms_flag = "use_qk_norm";
    family.config_rules.query_key_norms_usually = true;
    family.config_rules.growth_flag = "attn_temperature_tuning";
    family.config_rules.growth_key = "attn_scale";
    family.config_rules.growth_length_key = "floor_scale";
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.windowed = WindowedLayers::chunked;
    family.config_rules.window = 8192;
    family.config_rules.ignored = {"for_llm_compressor", "nope_layer_interval"};
    family.config_rules.mixture = {.may_lack_experts = true,
                                   .experts = {"num_local_experts", 16},
                                   .per_token = {"num_experts_per_tok", 1},
                                   .dense_feed_forward = {"intermediate_size_mlp", 16384},
                                   .is_shared = true,
                                   .layers = MixtureLayers::listed_or_by_step};
    family.gguf_rules.interleaves = true;
    family.gguf_rules.has_frequency_factors = true;
    family.gguf_rules.chunk = 8192;
    family.gguf_rules.window_pattern = 4;
    family.gguf_rules.unrotated_every_nth = 4;
    family.gguf_rules.experts_without_norms = 128;
    family.gguf_rules.has_mixture_step = true;
    family.gguf_rules.has_expert_width = true;
    return family;
}

}  // namespace roper::family
