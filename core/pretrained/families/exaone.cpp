#include "core/pretrained/families/families.h"

namespace roper::family {

Family exaone4() {
    Family family = olmo2();
    family.model_type = family.gguf = "exaone4";
    family.describe = [](Architecture& model) {
        olmo2().describe(model);
        model.query_key_norms = QueryKeyNorms::shared_weights;
    };
    family.config_rules.biases = {};
    family.config_rules.biases.plain = {never, never, never, never};
    family.config_rules.windowed = WindowedLayers::all_but_every_nth;
    family.config_rules.window_pattern = 4;
    family.gguf_rules.scales_only_full_layers = false;
    family.gguf_rules.rotates_only_windowed = true;
    family.gguf_rules.has_frequency_factors = true;
    return family;
}

}  // namespace roper::family
