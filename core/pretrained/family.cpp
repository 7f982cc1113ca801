#include "core/pretrained/family.h"

#include <cmath>

namespace roper {
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

TensorNames gemma2Names() {
    TensorNames names = llamaNames();
    names.after_attention_norm = "post_attention_layernorm";
    names.feed_forward_norm = "pre_feedforward_layernorm";
    names.after_feed_forward_norm = "post_feedforward_layernorm";
    return names;
}

TensorNames neoxNames() {
    TensorNames names;
    names.embedding = "gpt_neox.embed_in";
    names.final_norm = "gpt_neox.final_layer_norm";
    names.head = "embed_out";
    names.layer = "gpt_neox.layers.{}.";
    names.attention_norm = "input_layernorm";
    names.query_key_value = "attention.query_key_value";
    names.output = "attention.dense";
    names.feed_forward_norm = "post_attention_layernorm";
    names.up = "mlp.dense_h_to_4h";
    names.down = "mlp.dense_4h_to_h";
    return names;
}

TensorNames gpt2Names() {
    TensorNames names;
    names.embedding = "transformer.wte";
    names.positions = "transformer.wpe";
    names.final_norm = "transformer.ln_f";
    names.head = "lm_head";
    names.layer = "transformer.h.{}.";
    names.attention_norm = "ln_1";
    names.query_key_value = "attn.c_attn";
    names.output = "attn.c_proj";
    names.feed_forward_norm = "ln_2";
    names.up = "mlp.c_fc";
    names.down = "mlp.c_proj";
    return names;
}

TensorNames ourNames() {
    TensorNames names;
    names.embedding = "embedding";
    names.positions = "positions";
    names.final_norm = "final_norm";
    names.head = "head";
    names.layer = "blocks.{}.";
    names.attention_norm = "attention_norm";
    names.query_key_value = "attention.qkv";
    names.output = "attention.output";
    names.feed_forward_norm = "feed_forward_norm";
    names.up = "feed_forward.up";
    names.down = "feed_forward.down";
    return names;
}

void plain(Architecture&) {}

void gemma(Architecture& model) {
    model.norm_adds_one = true;
    model.activation = Activation::gelu_tanh;
    model.embedding_scale = std::sqrt(static_cast<double>(model.width));
}

void gemma2(Architecture& model) {
    gemma(model);
    model.norms_after = true;
}

void gemma3(Architecture& model) {
    gemma2(model);
    model.query_key_norms = true;
}

void qwen3(Architecture& model) {
    model.query_key_norms = true;
}

void neox(Architecture& model) {
    model.norm = NormKind::layer;
    model.gated = false;
    model.activation = Activation::gelu;
}

void gpt2(Architecture& model) {
    neox(model);
    model.learned_positions = true;
    model.activation = Activation::gelu_tanh;
}

constexpr auto kNever = BiasRule::never, kAlways = BiasRule::always, kFile = BiasRule::as_file;

Family llamaLike(const char* model_type, const char* gguf) {
    Family family;
    family.model_type = model_type;
    family.gguf = gguf;
    family.describe = plain;
    family.names = llamaNames();
    family.in_config.biases.plain = {kNever, kNever, kNever, kNever};
    return family;
}

Family llamaFamily() {
    Family family = llamaLike("llama", "llama");
    family.in_config.biases.attention_flag = "attention_bias";
    family.in_config.biases.feed_forward_flag = "mlp_bias";
    family.in_gguf.interleaves = true;
    family.in_gguf.biases = {kFile, kFile, kFile, kNever};
    family.in_gguf.whole_heads = true;
    family.in_gguf.has_frequency_factors = true;
    family.in_gguf.window_pattern = 0;  // for Mistral's models, whose GGUF files name the architecture llama
    return family;
}

Family mistralFamily() {
    Family family = llamaLike("mistral", "llama");
    family.in_gguf.interleaves = true;
    family.in_config.windowed = WindowedLayers::all;
    family.in_gguf.has_frequency_factors = true;
    return family;
}

Family qwen2Family() {
    Family family = llamaLike("qwen2", "qwen2");
    family.in_config.biases.plain.query_key_value = kAlways;
    family.in_gguf.biases = {kFile, kFile, kNever, kFile};
    family.in_config.windowed = WindowedLayers::from_max_window_on;
    family.in_config.window_flag = "use_sliding_window";
    family.in_gguf.whole_heads = true;
    return family;
}

Family qwen3Family() {
    Family family = llamaLike("qwen3", "qwen3");
    family.describe = qwen3;
    family.in_config.biases.attention_flag = "attention_bias";
    family.in_gguf.biases = {kFile, kFile, kNever, kNever};
    family.in_config.windowed = WindowedLayers::from_max_window_on;
    family.in_config.window_flag = "use_sliding_window";
    family.in_gguf.whole_heads = true;
    return family;
}

Family gemmaFamily() {
    Family family = llamaLike("gemma", "gemma");
    family.describe = gemma;
    family.in_config.biases.attention_flag = "attention_bias";
    family.in_gguf.biases = {kFile, kNever, kNever, kNever};
    family.in_config.activation_key = "hidden_activation";
    family.in_config.tied = true;
    return family;
}

Family gemma2Family() {
    Family family = gemmaFamily();
    family.model_type = family.gguf = "gemma2";
    family.describe = gemma2;
    family.names = gemma2Names();
    family.score_cap = 50;
    family.logit_cap = 30;
    family.in_config.query_scalar_key = "query_pre_attn_scalar";
    family.in_config.windowed = WindowedLayers::all_but_each_nth;
    family.in_config.window_pattern = 2;
    family.in_gguf.window = 4096;
    family.in_gguf.window_pattern = 2;
    family.in_gguf.layers_scored_by_width = 46;
    return family;
}

Family gemma3Family() {
    Family family = gemma2Family();
    family.model_type = "gemma3_text";
    family.gguf = "gemma3";
    family.describe = gemma3;
    family.score_cap = std::nullopt;
    family.logit_cap = 0;
    family.in_config.window_pattern = 6;
    family.in_config.bidirectional_flag = "use_bidirectional_attention";
    family.in_gguf.windowed_base = 10000;
    family.in_gguf.window = 0;
    family.in_gguf.window_pattern = 6;
    family.in_gguf.layers_scored_by_width = 62;
    family.in_gguf.of_images = {"v.", "mm."};
    return family;
}

Family neoxFamily() {
    Family family;
    family.model_type = "gpt_neox";
    family.gguf = "gptneox";
    family.describe = neox;
    family.names = neoxNames();
    family.interleaved_heads = true;
    family.in_config.biases = {{kAlways, kAlways, kAlways, kNever}, "attention_bias", true};
    family.in_gguf.biases = {kAlways, kAlways, kAlways, kNever};
    family.parallel_flag = "use_parallel_residual";
    family.other_head = "lm_head";
    family.made_by_its_class = {".attention.bias", ".attention.masked_bias"};
    family.in_gguf.old_files_cut_as_gpt2 = true;
    return family;
}

Family gpt2Family() {
    Family family;
    family.model_type = family.gguf = "gpt2";
    family.describe = gpt2;
    family.names = gpt2Names();
    family.transposed = true;
    family.in_config.biases.plain = {kAlways, kAlways, kAlways, kNever};
    family.in_gguf.biases = {kAlways, kAlways, kAlways, kNever};
    family.in_config.context = 1024;
    family.in_config.feed_forward_by_width = 4;
    family.in_config.activation_key = "activation_function";
    family.in_config.tied = true;
    family.in_config.scales_scores_flag = "scale_attn_weights";
    family.in_config.scales_by_layer_flag = "scale_attn_by_inverse_layer_idx";
    family.made_by_its_class = {".attn.bias", ".attn.masked_bias"};
    family.in_gguf.old_files_cut_as_gpt2 = true;
    return family;
}

Family ourFamily() {
    Family family;
    family.model_type = kOurFamily;
    family.describe = plain;
    family.names = ourNames();
    family.is_ours = true;
    return family;
}

}  // namespace

const std::vector<Family>& families() {
    static const std::vector<Family> all = {
        llamaFamily(),  mistralFamily(), qwen2Family(), qwen3Family(), gemmaFamily(),
        gemma2Family(), gemma3Family(),  neoxFamily(),  gpt2Family(),  ourFamily(),
    };
    return all;
}

const Family* familyNamed(const std::string& model_type) {
    for (const Family& family : families())
        if (model_type == family.model_type) return &family;
    return nullptr;
}

const Family* familyOfGguf(const std::string& architecture) {
    for (const Family& family : families())
        if (!family.is_ours && architecture == family.gguf) return &family;
    return nullptr;
}

const TensorNames& ggufNames() {
    static const TensorNames names = {"token_embd",   "position_embd",
                                      "output_norm",  "output",
                                      "blk.{}.",      "attn_norm",
                                      "attn_q",       "attn_k",
                                      "attn_v",       "attn_qkv",
                                      "attn_output",  "attn_q_norm",
                                      "attn_k_norm",  "post_attention_norm",
                                      "ffn_norm",     "ffn_gate",
                                      "ffn_up",       "ffn_down",
                                      "post_ffw_norm"};
    return names;
}

const std::vector<std::string>& knownFamilies() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> made;
        for (const Family& family : families())
            if (!family.is_ours) made.emplace_back(family.model_type);
        return made;
    }();
    return names;
}

}  // namespace roper
