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
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    family.gguf_rules.biases = {if_present, if_present, if_present, never};
    return family;
}

}  // namespace roper::family
