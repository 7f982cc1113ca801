#include "core/pretrained/families/families.h"

namespace roper::family {

Family qwen2() {
    Family family = llamaLike("qwen2", "qwen2");
    family.in_config.biases.plain.query_key_value = always;
    family.in_gguf.biases = {as_file, as_file, never, as_file};
    family.in_config.windowed = WindowedLayers::from_max_window_on;
    family.in_config.window_flag = "use_sliding_window";
    family.in_gguf.whole_heads = true;
    return family;
}

Family qwen3() {
    Family family = llamaLike("qwen3", "qwen3");
    family.describe = [](Architecture& model) { model.query_key_norms = QueryKeyNorms::alike; };
    family.in_config.biases.query_key_value = family.in_config.biases.output = {"attention_bias"};
    family.in_gguf.biases = {as_file, as_file, never, never};
    family.in_config.windowed = WindowedLayers::from_max_window_on;
    family.in_config.window_flag = "use_sliding_window";
    family.in_gguf.whole_heads = true;
    return family;
}

}  // namespace roper::family
