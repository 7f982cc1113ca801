#include "core/pretrained/families/families.h"

namespace roper::family {

Family smollm3() {
    Family family = llamaLike("smollm3", "smollm3");
    family.in_config.tied = true;
    family.in_config.windowed = WindowedLayers::listed;
    family.in_config.window_flag = "use_sliding_window";
    family.in_config.biases.query_key_value = family.in_config.biases.output = {"attention_bias"};
    family.in_config.biases.feed_forward = {"mlp_bias"};
    family.in_gguf.biases = {never, never, never, never};
    family.in_gguf.interleaves = true;
    family.in_gguf.unrotated_each_nth = 4;
    return family;
}

}  // namespace roper::family
