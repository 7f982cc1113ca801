#include "core/pretrained/families/families.h"
#include "core/pretrained/gguf_entries.h"

namespace roper::family {
namespace {

/// Reads the activation's entries, whose names do not begin with that of the architecture.
void readXielu(const GgufEntries& entries, Architecture& model) {
    const auto numbers = [&](const char* key) {
        const auto found = entries.metadata().numbers(key);
        if (!found || found->size() != static_cast<std::size_t>(model.layers))
            entries.metadata().refuse(
                key, "must be a list of " + std::to_string(model.layers) + " numbers, one for each layer");
        return *found;
    };
    const auto alpha_p = numbers("xielu.alpha_p"), alpha_n = numbers("xielu.alpha_n"),
               beta = numbers("xielu.beta"), epsilon = numbers("xielu.eps");
    for (std::size_t layer = 0; layer < alpha_p.size(); ++layer)
        model.xielu.push_back({alpha_p[layer], alpha_n[layer], beta[layer], epsilon[layer]});
}

}  // namespace

Family apertus() {
    Family family = llamaLike("apertus", "apertus");
    family.describe = [](Architecture& model) {
        model.query_key_norms = QueryKeyNorms::shared_weights;
        model.gated = false;
        model.activation = Activation::xielu;
    };
    family.names.attention_norm = "attention_layernorm";
    family.names.feed_forward_norm = "feedforward_layernorm";
    family.names.activation = "mlp.act_fn";
    family.config_rules.norm_epsilon = 1e-5;
    family.config_rules.biases.query_key_value = family.config_rules.biases.output = {"attention_bias"};
    family.gguf_rules.read = readXielu;
    family.gguf_rules.has_frequency_factors = true;
    family.gguf_rules.biases = {if_present, if_present, never, never};
    family.config_rules.ignored = {"qk_norm"};  // always
    return family;
}

}  // namespace roper::family
