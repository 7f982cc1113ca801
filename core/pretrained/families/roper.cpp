#include "core/pretrained/families/families.h"

namespace roper::family {

Family roper() {
    Family family;
    family.model_type = kRoperFamily;
    family.names = {.embedding = "embedding",
                    .positions = "positions",
                    .final_norm = "final_norm",
                    .head = "head",
                    .layer = "blocks.{}.",
                    .attention_norm = "attention_norm",
                    .query = "attention.query",
                    .query_key_value = "attention.qkv",
                    .output = "attention.output",
                    .query_norm = "attention.query_norm",
                    .key_norm = "attention.key_norm",
                    .feed_forward_norm = "feed_forward_norm",
                    .gate = "feed_forward.gate",
                    .up = "feed_forward.up",
                    .down = "feed_forward.down",
                    .sinks = "attention.sinks"};
    family.latent_names.down = "attention.latent";
    family.latent_names.norm = "attention.latent_norm";
    family.latent_names.up = "attention.latent_up";
    family.trained_here = true;
    return family;
}

}  // namespace roper::family
