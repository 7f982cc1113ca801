#include "core/pretrained/families/families.h"

namespace roper::family {

/// Nemotron 4 and Minitron.
Family nemotron() {
    Family family = llamaLike("nemotron", "nemotron");
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.norm_adds_one = true;
        model.gated = false;
        model.activation = Activation::relu_squared;
    };
    family.in_config.biases.query_key_value = family.in_config.biases.output = {"attention_bias"};
    family.in_config.biases.feed_forward = {"mlp_bias"};
    family.in_gguf.biases = {as_file, as_file, as_file, never};
    return family;
}

}  // namespace roper::family
