#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/explorer/setup.h"

namespace roper {

/// A setup for layers of one kind, where a model's layers rotate differently.
struct LayerKind {
    std::string name;  ///< as the config has it: "full_attention", "sliding_attention"
    Setup setup;
};

/// A setup made from a model's config.json, and what a person should know about how it was read.
struct ConfigReading {
    Setup setup;
    std::vector<LayerKind> kinds;  ///< empty where all layers are alike; else `setup` is that of the first
    std::vector<std::string> notes;
};

/// Reads the rotary parameters of a Hugging Face config.json into a setup, as transformers 5.24 does:
/// `rope_theta`, `partial_rotary_factor`, `rope_scaling` or `rope_parameters` with their `rope_type`, flat or
/// nested by kind of layer, also inside `text_config`; local layers with a base of their own
/// (`rope_local_base_freq`, `local_rope_theta`); older names (`rotary_emb_base`, `rotary_pct`, `rotary_dim`).
/// The head's width comes from `head_dim`, `qk_rope_head_dim`, or hidden_size / num_attention_heads. What a
/// config does not say is as in the code of its `model_type`. Fields that have nothing to do with rotation
/// are passed over; those that have, and are not understood, are named in the notes.
/// @param setup  what is no property of the model stays as it is here
/// @throws Error (usage) naming the field, what is wrong with it, and what is accepted
ConfigReading readHuggingFaceConfig(std::string_view json, Setup setup);

/// The rotary fields of a config.json for this setup. `nested` writes the newer `rope_parameters`, otherwise
/// `rope_theta` and `rope_scaling`. With LongRoPE's second attention factor it is one of a model of type
/// phimoe, the only type that reads it.
/// @throws Error (usage) for what Hugging Face has no name for: the worked example's formula, p-RoPE beside a
/// rotated fraction, a second attention factor that a phimoe model cannot have
std::string huggingFaceConfig(const Setup& setup, bool nested);

}  // namespace roper
