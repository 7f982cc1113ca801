#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/explorer/setup.h"

namespace roper {

/// A setup made from a model's config.json, and what a person should know about how it was read.
struct ConfigReading {
    Setup setup;
    std::vector<std::string> notes;
};

/// Reads the rotary parameters of a Hugging Face config.json into a setup: `rope_theta`,
/// `partial_rotary_factor`, `rope_scaling` (type or rope_type) or `rope_parameters`, flat or nested by kind
/// of layer, also inside `text_config`; the older names of GPT-NeoX and GPT-J (`rotary_emb_base`,
/// `rotary_pct`, `rotary_dim`) too. The head's width comes from `head_dim`, else hidden_size /
/// num_attention_heads. Fields that have nothing to do with rotation are passed over.
/// @param setup  what the config does not say stays as it is here
/// @throws Error (usage) naming the field, what is wrong with it, and what is accepted
ConfigReading readHuggingFaceConfig(std::string_view json, Setup setup);

/// The rotary fields of a config.json for this setup. `nested` writes the newer `rope_parameters`, otherwise
/// `rope_theta` and `rope_scaling`.
/// @throws Error (usage) for what Hugging Face has no name for: the worked example's formula
std::string huggingFaceConfig(const Setup& setup, bool nested);

}  // namespace roper
