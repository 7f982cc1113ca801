#include <cmath>

#include "core/pretrained/families/families.h"
#include "core/rotary/position_bias.h"

namespace roper::family {

std::vector<std::function<double(int distance)>> alibiBias(std::int64_t heads, double largest) {
    std::vector<std::function<double(int)>> bias;
    for (const double slope : alibiSlopes(static_cast<int>(heads), largest))
        bias.emplace_back([slope](int distance) { return -slope * std::abs(distance); });
    return bias;
}

Family bloom() {
    Family family;
    family.model_type = family.gguf = "bloom";
    family.rotates = false;
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.gated = false;
        model.activation = Activation::gelu_tanh;
        model.norms_embeddings = true;
        model.head_bias = alibiBias(model.heads);
    };
    family.names = {.embedding = "transformer.word_embeddings",
                    .embedding_norm = "transformer.word_embeddings_layernorm",
                    .final_norm = "transformer.ln_f",
                    .head = "lm_head",
                    .layer = "transformer.h.{}.",
                    .attention_norm = "input_layernorm",
                    .query_key_value = "self_attention.query_key_value",
                    .output = "self_attention.dense",
                    .feed_forward_norm = "post_attention_layernorm",
                    .up = "mlp.dense_h_to_4h",
                    .down = "mlp.dense_4h_to_h"};
    family.interleaved_heads = true;
    family.config_rules.sizes = {.width = "n_embed", .context = "seq_length"};
    family.config_rules.feed_forward_factor = 4;
    family.config_rules.activation_key = nullptr;
    family.config_rules.tied = true;
    family.config_rules.biases.plain = {always, always, always, never};
    family.config_rules.ignored = {"attention_softmax_in_fp32", "bias_dropout_fusion", "hidden_size",
                                   "masked_softmax_fusion", "offset_alibi", "skip_bias_add",
                                   "skip_bias_add_qkv",
                                   // the same sum in parts
                                   "slow_but_exact"};
    family.gguf_rules.biases = {always, always, always, never};
    family.config_rules.norm_epsilon_key = "layer_norm_epsilon";
    return family;
}

}  // namespace roper::family
