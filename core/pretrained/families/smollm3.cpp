#include "core/pretrained/families/families.h"

namespace roper::family {

Family smollm3() {
    Family family = llamaLike("smollm3", "smollm3");
    family.config_rules.tied = true;
    family.config_rules.windowed = WindowedLayers::listed;
    family.config_rules.window_flag = "use_sliding_window";
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.config_rules.biases.feed_forward = {"mlp_bias"};
    family.gguf_rules.biases = {never, never, never, never};
    family.gguf_rules.interleaves = true;
    family.gguf_rules.unrotated_every_nth = 4;
    return family;
}

}  // namespace roper::family
