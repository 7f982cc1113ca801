#include "core/pretrained/families/families.h"

namespace roper::family {
namespace {

TensorNames llamaNames() {
    TensorNames names;
    names.embedding = "model.embed_tokens";
    names.final_norm = "model.norm";
    names.head = "lm_head";
    names.layer = "model.layers.{}.";
    names.attention_norm = "input_layernorm";
    names.query = "self_attn.q_proj";
    names.key = "self_attn.k_proj";
    names.value = "self_attn.v_proj";
    names.output = "self_attn.o_proj";
    names.query_norm = "self_attn.q_norm";
    names.key_norm = "self_attn.k_norm";
    names.feed_forward_norm = "post_attention_layernorm";
    names.gate = "mlp.gate_proj";
    names.up = "mlp.up_proj";
    names.down = "mlp.down_proj";
    return names;
}

}  // namespace

Family llamaLike(const char* model_type, const char* gguf) {
    Family family;
    family.model_type = model_type;
    family.gguf = gguf;
    family.names = llamaNames();
    family.in_config.biases.plain = {never, never, never, never};
    return family;
}

Family llama() {
    Family family = llamaLike("llama", "llama");
    family.in_config.biases.query_key_value = family.in_config.biases.output = {"attention_bias"};
    family.in_config.biases.feed_forward = {"mlp_bias"};
    family.in_gguf.interleaves = true;
    family.in_gguf.biases = {as_file, as_file, as_file, never};
    family.in_gguf.whole_heads = true;
    family.in_gguf.has_frequency_factors = true;
    family.in_gguf.window_pattern = 0;  // for Mistral's models, whose GGUF files name the architecture llama
    return family;
}

Family mistral() {
    Family family = llamaLike("mistral", "llama");
    family.in_gguf.interleaves = true;
    family.in_config.windowed = WindowedLayers::all;
    family.in_gguf.has_frequency_factors = true;
    return family;
}

Family ministral() {
    Family family = llamaLike("ministral", "");
    family.in_config.windowed = WindowedLayers::all;
    return family;
}

Family ministral3() {
    Family family = llamaLike("ministral3", "mistral3");
    family.in_config.norm_epsilon = 1e-5;
    family.in_config.windowed = WindowedLayers::all;
    family.in_config.window = 0;
    family.queries_grow = true;
    family.in_gguf.biases = {never, never, never, never};
    family.in_gguf.interleaves = true;
    return family;
}

}  // namespace roper::family
