#include <bit>
#include <cmath>

#include "core/model_config/config_fields.h"
#include "core/pretrained/families/families.h"
#include "core/rotary/position_bias.h"

namespace roper::family {
namespace {

/// Rounds to the nearest bfloat16, ties to even.
float roundedToBfloat16(double number) {
    auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
    bits += 0x7fff + ((bits >> 16) & 1);
    return std::bit_cast<float>(bits & 0xffff0000);
}

/// ALiBi as Falcon's class computes it: slope·j for the key at position j, which differs from −slope·(n − j)
/// by a constant for the query at n. Slope, position and product are rounded to bfloat16, and the product is
/// divided by √d like scores, d being the width of a head.
std::vector<std::function<double(int)>> falconBias(std::int64_t heads, std::int64_t head_dim) {
    std::vector<std::function<double(int)>> bias;
    for (const double slope : alibiSlopes(static_cast<int>(heads)))
        bias.emplace_back(
            [slope = roundedToBfloat16(slope), d = static_cast<double>(head_dim)](int position) {
                return roundedToBfloat16(slope * roundedToBfloat16(position)) / std::sqrt(d);
            });
    return bias;
}

/// Reads the number of key/value heads, and whether attention and feed-forward are parallel, with one norm or
/// two.
void readFalconConfig(const ConfigFields& config, ParsedArchitecture& parsed) {
    Architecture& model = parsed.architecture;
    const bool is_new = config.flag("new_decoder_architecture").value_or(false),
               has_one_key = config.flagOr("multi_query", true),
               is_parallel = config.flagOr("parallel_attn", true);
    const int groups = config.integer("num_kv_heads", 1, static_cast<int>(kMaxHeads))
                           .value_or(static_cast<int>(model.heads)),
              norms = config.integer("num_ln_in_parallel_attn", 1, 2).value_or(is_new ? 2 : 1);
    if (is_new && model.heads % groups != 0)
        config.refuse("num_kv_heads", "must divide num_attention_heads, " + std::to_string(model.heads));
    if (!is_new && !has_one_key && groups != model.heads)
        config.refuse("num_kv_heads", "must equal num_attention_heads, " + std::to_string(model.heads) +
                                          ", unless new_decoder_architecture or multi_query is true");
    if (is_new && !is_parallel)
        config.refuse("parallel_attn", "is false, which is not possible with new_decoder_architecture");
    if (!is_new && norms == 2)
        config.refuse("num_ln_in_parallel_attn",
                      "is 2, which is possible only with new_decoder_architecture");
    model.key_value_heads = is_new ? groups : has_one_key ? 1 : model.heads;
    model.parallel = is_new || is_parallel;
    model.shares_norm = model.parallel && norms == 1;
    if (config.flag("alibi").value_or(false))
        model.key_bias = falconBias(model.heads, model.width / model.heads);
}

}  // namespace

/// Falcon 1 and 2. llama.cpp reads only models with rotation and with parallel attention and feed-forward.
Family falcon() {
    Family family;
    family.model_type = family.gguf = "falcon";
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.parallel = true;
        model.shares_norm = true;
        model.gated = false;
        model.activation = Activation::gelu;
    };
    family.names = {.embedding = "transformer.word_embeddings",
                    .final_norm = "transformer.ln_f",
                    .head = "lm_head",
                    .layer = "transformer.h.{}.",
                    .attention_norm = "input_layernorm",
                    .query_key_value = "self_attention.query_key_value",
                    .output = "self_attention.dense",
                    .feed_forward_norm = "post_attention_layernorm",
                    .up = "mlp.dense_h_to_4h",
                    .down = "mlp.dense_4h_to_h",
                    .attention_norm_of_two = "ln_attn",
                    .feed_forward_norm_of_two = "ln_mlp"};
    family.interleaved_heads = true;
    family.config_rules.read = readFalconConfig;
    family.config_rules.sizes = {.width = "n_embed", .feed_forward = "ffn_hidden_size"};
    family.config_rules.feed_forward_factor = 4;
    family.config_rules.activation_key = "activation";
    family.config_rules.tied = true;
    family.config_rules.biases = {{never, never, never, never}, {"bias"}, {"bias"}, {"bias"}};
    family.gguf_rules.biases = {never, never, never, never};
    family.gguf_rules.attention_norm_of_two = "attn_norm_2";
    family.gguf_rules.feed_forward_norm_of_two = "attn_norm";
    family.config_rules.ignored = {"ff_factor"};
    family.config_rules.norm_epsilon_key = "layer_norm_epsilon";
    return family;
}

}  // namespace roper::family
