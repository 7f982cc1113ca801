#include "core/pretrained/families/families.h"

namespace roper::family {
namespace {

TensorNames neoxNames() {
    TensorNames names;
    names.embedding = "gpt_neox.embed_in";
    names.final_norm = "gpt_neox.final_layer_norm";
    names.head = "embed_out";
    names.layer = "gpt_neox.layers.{}.";
    names.attention_norm = "input_layernorm";
    names.query_key_value = "attention.query_key_value";
    names.output = "attention.dense";
    names.feed_forward_norm = "post_attention_layernorm";
    names.up = "mlp.dense_h_to_4h";
    names.down = "mlp.dense_4h_to_h";
    return names;
}

}  // namespace

Family gpt_neox() {
    Family family;
    family.model_type = "gpt_neox";
    family.gguf = "gptneox";
    family.describe = [](Architecture& model) {
        model.norm = NormKind::layer;
        model.gated = false;
        model.activation = Activation::gelu;
    };
    family.names = neoxNames();
    family.interleaved_heads = true;
    family.in_config.biases = {
        {always, always, always, never}, {"attention_bias", true}, {"attention_bias", true}};
    family.in_gguf.biases = {always, always, always, never};
    family.parallel_flag = "use_parallel_residual";
    family.other_head = "lm_head";
    family.made_by_its_class = {".attention.bias", ".attention.masked_bias"};
    family.in_gguf.old_files_cut_as_gpt2 = true;
    return family;
}

}  // namespace roper::family
