#include "core/base/text.h"
#include "core/model_config/config_fields.h"
#include "core/pretrained/families/families.h"
#include "core/pretrained/gguf_entries.h"

namespace roper::family {
namespace {

void requireValue(const ConfigFields& config, const char* key, const char* json) {
    if (config.has(key) && !config.equalsJson(key, json))
        config.refuse(key, "is supported only with the value " + std::string(json));
}

/// transformers' class computes ALiBi with slopes down to 2⁻⁸, whatever alibi_bias_max says. MosaicML's own
/// code and llama.cpp use alibi_bias_max, and so does this function.
void readMptConfig(const ConfigFields& config, ParsedArchitecture& parsed) {
    Architecture& model = parsed.architecture;
    requireValue(config, "norm_type", "\"low_precision_layernorm\"");
    double largest = 8;
    if (const auto attention = config.object("attn_config")) {
        requireValue(*attention, "attn_type", "\"multihead_attention\"");
        requireValue(*attention, "alibi", "true");
        requireValue(*attention, "sliding_window_size", "-1");
        largest = attention->number("alibi_bias_max", 1e-6, 1e6).value_or(largest);
        model.clip = attention->number("clip_qkv", 0, 1e6).value_or(0);
        model.score_scale = attention->number("softmax_scale", 1e-6, 1e6).value_or(0);
        attention->text("model_type");  // empty, in configs that transformers writes
    }
    if (largest != 8)
        parsed.notes.push_back("attn_config.alibi_bias_max is " + formatNumber(largest) +
                               ", which transformers 5.24 does not read: it computes with 8");
    model.head_bias = alibiBias(model.heads, largest);
}

/// As in llama.cpp, without the entry there is no bias.
void readMptEntries(const GgufEntries& entries, Architecture& model) {
    const double largest = entries.number("attention.max_alibi_bias", 0, 1e6, 0);
    if (largest == 0)
        entries.refuse("attention.max_alibi_bias",
                       "is 0 or missing; models of this family must have ALiBi's bias");
    model.head_bias = alibiBias(model.heads, largest);
}

}  // namespace

Family mpt() {
    Family family;
    family.model_type = family.gguf = "mpt";
    family.rotates = false;
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.norm_biases = false;
        model.gated = false;
        model.activation = Activation::gelu;
    };
    family.names = {.embedding = "transformer.wte",
                    .final_norm = "transformer.norm_f",
                    .head = "lm_head",
                    .layer = "transformer.blocks.{}.",
                    .attention_norm = "norm_1",
                    .query_key_value = "attn.Wqkv",
                    .output = "attn.out_proj",
                    .feed_forward_norm = "norm_2",
                    .up = "ffn.up_proj",
                    .down = "ffn.down_proj"};
    family.config_rules.read = readMptConfig;
    family.config_rules.sizes = {
        .width = "d_model", .layers = "n_layers", .heads = "n_heads", .context = "max_seq_len"};
    family.config_rules.feed_forward_factor = 4;
    family.config_rules.activation_key = nullptr;
    family.config_rules.tied = true;
    family.config_rules.biases.plain = {never, never, never, never};
    family.config_rules.nested = "attn_config";
    family.config_rules.ignored = {"attn_impl",   "embedding_fraction", "expansion_ratio",
                                   "init_config", "init_device",        "learned_pos_emb",
                                   "no_bias",     "tokenizer_name",     "verbose"};
    family.gguf_rules.read = readMptEntries;
    family.gguf_rules.has_clip = true;
    family.gguf_rules.biases = {never, never, never, never};
    family.config_rules.norm_epsilon_key = "layer_norm_epsilon";
    return family;
}

}  // namespace roper::family
