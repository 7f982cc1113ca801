#include "core/pretrained/families/families.h"

namespace roper::family {

Family starcoder2() {
    Family family = llamaLike("starcoder2", "starcoder2");
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.gated = false;
        model.activation = Activation::gelu_tanh;
    };
    family.names.up = "mlp.c_fc";
    family.names.down = "mlp.c_proj";
    family.in_config.tied = true;
    family.in_config.ignored = {"activation_function", "mlp_type", "norm_type"};
    family.in_config.windowed = WindowedLayers::all;
    family.in_config.window = 0;
    family.in_config.biases.query_key_value = {"use_bias", true};
    family.in_config.biases.output = family.in_config.biases.feed_forward =
        family.in_config.biases.query_key_value;
    family.in_gguf.biases = {as_file, as_file, as_file, never};
    family.in_gguf.window_pattern = 0;
    return family;
}

}  // namespace roper::family
