#include "core/pretrained/families/families.h"

namespace roper::family {

Family exaone4() {
    Family family = olmo2();
    family.model_type = family.gguf = "exaone4";
    family.describe = [](Architecture& model) {
        olmo2().describe(model);
        model.query_key_norms = QueryKeyNorms::alike;
    };
    family.in_config.biases = {};
    family.in_config.biases.plain = {never, never, never, never};
    family.in_config.windowed = WindowedLayers::all_but_each_nth;
    family.in_config.window_pattern = 4;
    family.in_gguf.scales_full_layers_alone = false;
    family.in_gguf.rotates_windowed_alone = true;
    family.in_gguf.has_frequency_factors = true;
    return family;
}

}  // namespace roper::family
