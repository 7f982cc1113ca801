#include "core/model_config/config_fields.h"
#include "core/pretrained/families/families.h"

namespace roper::family {
namespace {

void readOptConfig(const ConfigFields& config, ParsedArchitecture& parsed) {
    Architecture& model = parsed.architecture;
    model.norm_epsilon = 1e-5;  // whatever the config says
    model.post_norm = !config.flagOr("do_layer_norm_before", true);
    model.has_final_norm = !config.flag("_remove_final_layer_norm").value_or(false);
    model.norm_weights = model.norm_biases = config.flagOr("layer_norm_elementwise_affine", true);
    const auto embedding = config.integer("word_embed_proj_dim", 1, static_cast<int>(kMaxWidth));
    if (embedding && *embedding != model.width) model.embedding_width = *embedding;
}

}  // namespace

/// OPT. llama.cpp's converter does not write it.
Family opt() {
    Family family;
    family.model_type = "opt";
    family.rotates = false;
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.gated = false;
        model.learned_positions = true;
        model.first_position = 2;  // the first two rows belong to padding
        model.activation = Activation::relu;
    };
    family.names = {.embedding = "model.decoder.embed_tokens",
                    .positions = "model.decoder.embed_positions",
                    .final_norm = "model.decoder.final_layer_norm",
                    .head = "lm_head",
                    .embedding_in = "model.decoder.project_in",
                    .embedding_out = "model.decoder.project_out",
                    .layer = "model.decoder.layers.{}.",
                    .attention_norm = "self_attn_layer_norm",
                    .query = "self_attn.q_proj",
                    .key = "self_attn.k_proj",
                    .value = "self_attn.v_proj",
                    .output = "self_attn.out_proj",
                    .feed_forward_norm = "final_layer_norm",
                    .up = "fc1",
                    .down = "fc2"};
    family.config_rules.read = readOptConfig;
    family.config_rules.sizes.feed_forward = "ffn_dim";
    family.config_rules.activation_key = "activation_function";
    family.config_rules.tied = true;
    family.config_rules.biases = {
        {never, never, never, never}, {"enable_bias", true}, {"enable_bias", true}, {"enable_bias", true}};
    family.config_rules.ignored = {"layerdrop", "learned_embeddings"};
    return family;
}

}  // namespace roper::family
