#include "core/pretrained/families/families.h"

// Families that differ from Llama's in a number, a flag or a bias.

namespace roper::family {

Family arcee() {
    Family family = llamaLike("arcee", "arcee");
    family.describe = [](Architecture& model) {
        model.gated = false;
        model.activation = Activation::relu_squared;
    };
    family.in_config.norm_epsilon = 1e-5;
    family.in_config.biases.query_key_value = family.in_config.biases.output = {"attention_bias"};
    family.in_config.biases.feed_forward = {"mlp_bias"};
    family.in_gguf.biases = {never, never, never, never};
    family.in_gguf.interleaves = true;
    family.in_gguf.has_frequency_factors = true;
    return family;
}

/// ERNIE 4.5.
Family ernie4_5() {
    Family family = llamaLike("ernie4_5", "ernie4_5");
    family.in_config.norm_epsilon = 1e-5;
    family.in_config.tied = true;
    family.in_config.biases.query_key_value = {"use_bias"};
    family.in_config.biases.output = family.in_config.biases.feed_forward = {"use_bias"};
    family.in_gguf.biases = {as_file, as_file, as_file, never};
    family.in_gguf.interleaves = true;
    return family;
}

Family helium() {
    Family family = llamaLike("helium", "");
    family.in_config.norm_epsilon = 1e-8;
    family.in_config.biases.query_key_value = {"attention_bias"};
    family.in_config.biases.feed_forward = {"mlp_bias"};
    return family;
}

/// InternLM 3, whose GGUF files name the architecture llama.
Family internlm3() {
    Family family = llamaLike("internlm3", "");
    family.in_config.norm_epsilon = 1e-5;
    family.in_config.biases.query_key_value = family.in_config.biases.output = {"attention_bias"};
    family.in_config.biases.feed_forward = {"mlp_bias"};
    return family;
}

Family seed_oss() {
    Family family = llamaLike("seed_oss", "seed_oss");
    family.in_config.biases.query_key_value = {"attention_bias", true};
    family.in_config.biases.output = {"attention_out_bias"};
    family.in_config.biases.feed_forward = {"mlp_bias"};
    family.in_gguf.biases = {as_file, never, never, never};
    family.in_gguf.feed_forward_norm = "post_attention_norm";
    return family;
}

}  // namespace roper::family
