#include <cmath>

#include "core/pretrained/families/families.h"
#include "core/pretrained/feature_reading.h"

namespace roper::family {

Family gemma() {
    Family family = llamaLike("gemma", "gemma");
    family.describe = [](Architecture& model) {
        model.norm_adds_one = true;
        model.activation = Activation::gelu_tanh;
        model.embedding_scale = std::sqrt(static_cast<double>(model.width));
    };
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.gelu_means_tanh = true;
    family.config_rules.tied = true;
    return family;
}

Family gemma2() {
    Family family = gemma();
    family.model_type = family.gguf = "gemma2";
    family.describe = [](Architecture& model) {
        gemma().describe(model);
        model.norms_after = true;
    };
    family.names.after_attention_norm = "post_attention_layernorm";
    family.names.feed_forward_norm = "pre_feedforward_layernorm";
    family.names.after_feed_forward_norm = "post_feedforward_layernorm";
    family.config_rules.activation_key = "hidden_activation";
    family.config_rules.gelu_means_tanh = false;
    family.score_cap = 50;
    family.logit_cap = 30;
    family.config_rules.query_scalar_key = "query_pre_attn_scalar";
    family.config_rules.windowed = WindowedLayers::all_but_every_nth;
    family.config_rules.window_pattern = 2;
    family.gguf_rules.window = 4096;
    family.gguf_rules.window_pattern = 2;
    family.gguf_rules.layers_scored_by_width = 46;
    family.config_rules.ignored = {"sliding_window_size"};
    return family;
}

Family gemma3_text() {
    Family family = gemma2();
    family.model_type = "gemma3_text";
    family.gguf = "gemma3";
    family.gguf_embedding = "gemma-embedding";
    family.describe = [](Architecture& model) {
        gemma2().describe(model);
        model.query_key_norms = QueryKeyNorms::shared_weights;
    };
    family.score_cap = std::nullopt;
    family.logit_cap = 0;
    family.config_rules.window_pattern = 6;
    family.config_rules.bidirectional_flag = "use_bidirectional_attention";
    family.gguf_rules.windowed_base = 10000;
    family.gguf_rules.window = 0;
    family.gguf_rules.window_pattern = 6;
    family.gguf_rules.layers_scored_by_width = 62;
    family.gguf_rules.unread_tensor_prefixes = {"v.", "mm.", "dense_2.", "dense_3."};
    return family;
}

/// The language model of Gemma 3n.
Family gemma3n_text() {
    Family family = gemma3_text();
    family.model_type = family.gguf = "gemma3n_text";
    family.gguf = "gemma3n";
    family.gguf_embedding = "";
    family.describe = [](Architecture& model) {
        gemma3_text().describe(model);
        model.norm_adds_one = false;
        model.norms_values = true;
        model.score_scale = 1;
        model.layer_embeddings.wraps_unknown = true;
    };
    family.logit_cap = 30;
    family.gemma_names = {.layer_table = "model.embed_tokens_per_layer",
                          .layer_projection = "model.per_layer_model_projection",
                          .layer_projection_norm = "model.per_layer_projection_norm",
                          .layer_gate = "per_layer_input_gate",
                          .layer_up = "per_layer_projection",
                          .layer_norm = "post_per_layer_input_norm",
                          .streams_in = "model.altup_projections.{}",
                          .streams_out = "model.altup_unembed_projections.{}",
                          .stream_router_norm = "altup.router_norm",
                          .stream_router = "altup.modality_router",
                          .predict = "altup.prediction_coefs",
                          .correct = "altup.correction_coefs",
                          .active_scale = "altup.correct_output_scale",
                          .laurel_left = "laurel.linear_left",
                          .laurel_right = "laurel.linear_right",
                          .laurel_norm = "laurel.post_laurel_norm"};
    ConfigRules& rules = family.config_rules;
    rules.sizes.is_feed_forward_by_layer = true;
    rules.query_scalar_key = rules.bidirectional_flag = nullptr;
    rules.window = 512;
    rules.window_pattern = 5;
    rules.read = [](const ConfigFields& config, ParsedArchitecture& parsed) {
        readLayerEmbeddings(config, parsed.architecture);
        if (!parsed.architecture.layer_embeddings.isUsed())
            config.refuse("hidden_size_per_layer_input", "is 0; layers of Gemma 3n must have embeddings");
        readAlternatingUpdates(config, parsed.architecture);
    };
    rules.read_layers = [](const ConfigFields& config, Architecture& model) {
        readSharedKeys(config, model, 15);
    };
    rules.ignored = {"altup_coef_clip", "altup_lr_multiplier"};  // in training alone
    family.gguf_rules.window_pattern = 5;
    family.gguf_rules.layers_scored_by_width = 0;
    family.gguf_rules.read = [](const GgufEntries& entries, Architecture& model) {
        readGgufLayerEmbeddings(entries, model);
        if (!model.layer_embeddings.isUsed())
            entries.refuse("embedding_length_per_layer_input", "is missing or 0");
        readGgufAlternatingUpdates(entries, model);
    };
    family.gguf_rules.read_layers = readGgufSharedKeys;
    family.gguf_rules.has_sizes_by_layer = true;
    return family;
}

/// The language model of Gemma 4.
Family gemma4_text() {
    Family family = gemma3n_text();
    family.model_type = "gemma4_text";
    family.gguf = "gemma4";
    family.describe = [](Architecture& model) {
        gemma3n_text().describe(model);
        model.layer_embeddings.wraps_unknown = false;
        model.scales_layers = true;
        model.mixture.beside_dense = true;
    };
    family.logit_cap = 0;
    GemmaNames& names = family.gemma_names;
    names.layer_scale = "layer_scalar";
    names.router_scale = "router.scale";
    names.expert_scales = "router.per_expert_scale";
    names.before_experts = "pre_feedforward_layernorm_2";
    names.after_experts = "post_feedforward_layernorm_2";
    names.after_dense = "post_feedforward_layernorm_1";
    family.mixture_names = {
        {.router = "router.proj", .all_gate_up = "experts.gate_up_proj", .all_down = "experts.down_proj"}};
    ConfigRules& rules = family.config_rules;
    rules.sizes.is_feed_forward_by_layer = false;
    rules.window_pattern = 6;
    rules.ends_unwindowed = true;
    rules.mixture = {.flag = "enable_moe_block",
                     .experts = {"num_experts"},
                     .per_token = {"top_k_experts"},
                     .feed_forward = {"moe_intermediate_size"}};
    rules.read = [](const ConfigFields& config, ParsedArchitecture& parsed) {
        readLayerEmbeddings(config, parsed.architecture);
        constexpr const char* kBothSides = "use_bidirectional_attention";
        const std::string both_sides = config.text(kBothSides).value_or("vision");
        if (both_sides != "all" && both_sides != "vision")
            config.refuse(kBothSides, "must be \"all\" or \"vision\", which concerns only images");
    };
    rules.bidirectional_flag = "use_bidirectional_attention";
    rules.bidirectional_text = "all";
    rules.read_layers = readGemma4Layers;
    rules.ignored = {"global_head_dim"};  // read with the rotation, unless per_layer_config replaces it
    GgufRules& gguf = family.gguf_rules;
    gguf.window_pattern = std::nullopt;
    gguf.has_windowed_widths = gguf.has_proportional_factors = gguf.has_expert_width = true;
    gguf.read = readGgufLayerEmbeddings;
    gguf.read_layers = [](const GgufEntries& entries, Architecture& model) {
        readGgufSharedKeys(entries, model);
        model.values_are_keys = true;
    };
    return family;
}

}  // namespace roper::family
