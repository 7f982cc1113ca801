#include "core/pretrained/families/families.h"

namespace roper::family {
namespace {

TensorNames roperNames() {
    TensorNames names;
    names.embedding = "embedding";
    names.positions = "positions";
    names.final_norm = "final_norm";
    names.head = "head";
    names.layer = "blocks.{}.";
    names.attention_norm = "attention_norm";
    names.query_key_value = "attention.qkv";
    names.query = "attention.query";
    names.query_norm = "attention.query_norm";
    names.key_norm = "attention.key_norm";
    names.sinks = "attention.sinks";
    names.output = "attention.output";
    names.feed_forward_norm = "feed_forward_norm";
    names.gate = "feed_forward.gate";
    names.up = "feed_forward.up";
    names.down = "feed_forward.down";
    return names;
}

}  // namespace

Family roper() {
    Family family;
    family.model_type = kRoperFamily;
    family.names = roperNames();
    family.latent_names.down = "attention.latent";
    family.latent_names.norm = "attention.latent_norm";
    family.latent_names.up = "attention.latent_up";
    family.trained_here = true;
    return family;
}

}  // namespace roper::family
