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

}  // namespace

const std::vector<Family>& families() {
    static const std::vector<Family> all = {
        {"llama", "llama", plain, llamaNames(), false, false, true},
        {"mistral", "llama", plain, llamaNames(), false, false, true},
        {"qwen2", "qwen2", plain, llamaNames()},
        {"qwen3", "qwen3", qwen3, llamaNames()},
        {"gemma", "gemma", gemma, llamaNames()},
        {"gemma2", "gemma2", gemma2, gemma2Names()},
        {"gemma3_text", "gemma3", gemma3, gemma2Names()},
        {"gpt_neox", "gptneox", neox, neoxNames(), true},
        {"gpt2", "gpt2", gpt2, gpt2Names(), false, true},
        {kOurFamily, "", plain, ourNames(), false, false, false, true},
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

Eigen::VectorXd frequenciesOf(const Architecture& model, std::int64_t layer, double tokens) {
    const LayerRotation& by = model.rotationOf(layer);
    return by.width == 0 ? Eigen::VectorXd() : by.frequencies(tokens).theta;
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
