#include "core/pretrained/families/families.h"

namespace roper::family {

Family qwen2() {
    Family family = llamaLike("qwen2", "qwen2");
    family.config_rules.biases.plain.query_key_value = always;
    family.gguf_rules.biases = {if_present, if_present, never, if_present};
    family.config_rules.windowed = WindowedLayers::from_max_window_on;
    family.config_rules.window_flag = "use_sliding_window";
    family.gguf_rules.requires_full_rotation = true;
    return family;
}

Family qwen3() {
    Family family = llamaLike("qwen3", "qwen3");
    family.describe = [](Architecture& model) { model.query_key_norms = QueryKeyNorms::shared_weights; };
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.gguf_rules.biases = {if_present, if_present, never, never};
    family.config_rules.windowed = WindowedLayers::from_max_window_on;
    family.config_rules.window_flag = "use_sliding_window";
    family.gguf_rules.requires_full_rotation = true;
    return family;
}

}  // namespace roper::family
