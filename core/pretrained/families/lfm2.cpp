#include <cmath>

#include "core/model_config/config_fields.h"
#include "core/pretrained/families/families.h"
#include "core/pretrained/feature_reading.h"
#include "core/pretrained/gguf_entries.h"

namespace roper::family {
namespace {

/// Reads the width of the feed-forward, which the class derives from intermediate_size by default.
void readFeedForwardWidth(const ConfigFields& config, Architecture& model) {
    constexpr int kMax = static_cast<int>(kMaxFeedForward);
    if (const auto own = config.integer("block_ff_dim", 1, kMax)) model.feed_forward = *own;
    const int multiple = config.integer("block_multiple_of", 1, kMax).value_or(256);
    constexpr const char* kFactor = "block_ffn_dim_multiplier";
    const double factor = config.number(kFactor, 1e-6, 1e6).value_or(1);
    if (!config.flagOr("block_auto_adjust_ff_dim", true)) return;
    double width = std::floor(2 * static_cast<double>(model.feed_forward) / 3);
    if (!config.contains(kFactor) || config.has(kFactor))
        width = std::ceil(std::floor(factor * width) / multiple) * multiple;
    if (width < 1 || width > static_cast<double>(kMaxFeedForward))
        config.refuse(kFactor, "gives a feed-forward width of 0 or one that is too large");
    model.feed_forward = static_cast<std::int64_t>(width);
}

/// Which layers attend: `layer_types`, or the numbers in `full_attn_idxs`; by default all.
std::vector<Mixer> mixersOf(const ConfigFields& config, std::int64_t layers) {
    std::vector<Mixer> mixers(static_cast<std::size_t>(layers), Mixer::attention);
    const auto attending = config.integers("full_attn_idxs", 0, static_cast<int>(kMaxLayers), kMaxLayers);
    if (const auto kinds = config.kindsByLayer("layer_types", layers, {"full_attention", "conv"})) {
        for (std::size_t layer = 0; layer < kinds->size(); ++layer)
            if ((*kinds)[layer] == 1) mixers[layer] = Mixer::short_convolution;
    } else if (attending) {
        mixers.assign(mixers.size(), Mixer::short_convolution);
        for (const int layer : *attending)
            if (layer < layers) mixers[static_cast<std::size_t>(layer)] = Mixer::attention;
    }
    return mixers;
}

void readConvolution(const ConfigFields& config, Architecture& model) {
    constexpr int kMaxTaps = 64;
    model.convolution_taps = config.integer("conv_L_cache", 1, kMaxTaps).value_or(3);
    model.convolution_biases = config.flag("conv_bias").value_or(false);
    model.tied = config.flag("tie_embedding").value_or(model.tied);
}

}  // namespace

Family lfm2() {
    Family family = llamaLike("lfm2", "lfm2");
    family.describe = [](Architecture& model) { model.query_key_norms = QueryKeyNorms::shared_weights; };
    TensorNames& names = family.names;
    names.final_norm = "model.embedding_norm";
    names.attention_norm = "operator_norm";
    names.feed_forward_norm = "ffn_norm";
    names.output = "self_attn.out_proj";
    names.query_norm = "self_attn.q_layernorm";
    names.key_norm = "self_attn.k_layernorm";
    names.gate = "feed_forward.w1";
    names.up = "feed_forward.w3";
    names.down = "feed_forward.w2";
    family.convolution_names = {"conv.in_proj", "conv.conv", "conv.out_proj"};
    ConfigRules& rules = family.config_rules;
    rules.context = 128000;
    rules.norm_epsilon = 1e-5;
    rules.norm_epsilon_key = "norm_eps";
    rules.activation_key = nullptr;
    rules.tied = true;
    rules.read = [](const ConfigFields& config, ParsedArchitecture& parsed) {
        readFeedForwardWidth(config, parsed.architecture);
        readConvolution(config, parsed.architecture);
    };
    rules.read_layers = [](const ConfigFields& config, Architecture& model) {
        setMixers(mixersOf(config, model.layers), model);
    };
    // Members of published configs that the class does not read.
    rules.ignored = {"block_dim",
                     "block_mlp_init_scale",
                     "block_norm_eps",
                     "block_out_init_scale",
                     "block_use_swiglu",
                     "block_use_xavier_init",
                     "conv_dim",
                     "conv_dim_out",
                     "conv_use_xavier_init",
                     "num_heads",
                     "theta",
                     "use_pos_enc"};
    GgufRules& gguf = family.gguf_rules;
    gguf.final_norm = "token_embd_norm";
    gguf.has_sizes_by_layer = true;
    gguf.without_heads = Mixer::short_convolution;
    gguf.read = [](const GgufEntries& entries, Architecture& model) {
        constexpr std::int64_t kMaxTaps = 64;
        model.convolution_taps = entries.required("shortconv.l_cache", kMaxTaps);
    };
    return family;
}

/// LFM2 with experts in all but the first layers.
Family lfm2_moe() {
    Family family = lfm2();
    family.model_type = "lfm2_moe";
    family.gguf = "lfm2moe";
    family.describe = [](Architecture& model) {
        lfm2().describe(model);
        model.mixture.scores = RouterScores::sigmoid;
        model.mixture.choice_bias = true;
        model.mixture.added_weight_sum = 1e-6;
    };
    family.mixture_names = {{.router = "feed_forward.gate",
                             .choice_bias = "feed_forward.expert_bias",
                             .gate = "feed_forward.experts.{}.w1",
                             .up = "feed_forward.experts.{}.w3",
                             .down = "feed_forward.experts.{}.w2",
                             .all_gate_up = "feed_forward.experts.gate_up_proj",
                             .all_down = "feed_forward.experts.down_proj"}};
    ConfigRules& rules = family.config_rules;
    rules.mixture = {.experts = {"num_experts", 32},
                     .per_token = {"num_experts_per_tok", 4},
                     .feed_forward = {"moe_intermediate_size", 1792},
                     .layers = MixtureLayers::after_first_dense,
                     .first_dense = {"num_dense_layers", 2},
                     .normalizes_flag = "norm_topk_prob",
                     .normalizes_usually = true,
                     .scale_key = "routed_scaling_factor"};
    rules.read = [](const ConfigFields& config, ParsedArchitecture& parsed) {
        readConvolution(config, parsed.architecture);
        parsed.architecture.mixture.choice_bias = config.flagOr("use_expert_bias", true);
        if (!config.has("layer_types"))
            config.refuse("layer_types", "is missing; it says which layers attend");
    };
    family.gguf_rules.has_expert_width = family.gguf_rules.has_dense_first = true;
    return family;
}

}  // namespace roper::family
