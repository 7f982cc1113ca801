#include "core/pretrained/families/families.h"

// Families that differ from Llama's in a number, a flag or a bias.

namespace roper::family {

Family arcee() {
    Family family = llamaLike("arcee", "arcee");
    family.describe = [](Architecture& model) {
        model.gated = false;
        model.activation = Activation::relu_squared;
    };
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    family.gguf_rules.biases = {never, never, never, never};
    family.gguf_rules.interleaves = true;
    family.gguf_rules.has_frequency_factors = true;
    return family;
}

/// ERNIE 4.5.
Family ernie4_5() {
    Family family = llamaLike("ernie4_5", "ernie4_5");
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.tied = true;
    family.config_rules.biases.query_key_value = {"use_bias"};
    family.config_rules.biases.output = family.config_rules.biases.feed_forward = {"use_bias"};
    family.gguf_rules.biases = {if_present, if_present, if_present, never};
    family.gguf_rules.interleaves = true;
    return family;
}

Family helium() {
    Family family = llamaLike("helium", "");
    family.config_rules.norm_epsilon = 1e-8;
    family.config_rules.biases.query_key_value = {"attention_bias"};
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    return family;
}

/// InternLM 3, whose GGUF files name the architecture llama.
Family internlm3() {
    Family family = llamaLike("internlm3", "");
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    return family;
}

Family seed_oss() {
    Family family = llamaLike("seed_oss", "seed_oss");
    family.config_rules.biases.query_key_value = {"attention_bias", true};
    family.config_rules.biases.output = {"attention_out_bias"};
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    family.gguf_rules.biases = {if_present, never, never, never};
    family.gguf_rules.feed_forward_norm = "post_attention_norm";
    return family;
}

}  // namespace roper::family
