#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/explorer/setup.h"

namespace roper {

/// The setup for one type of layers, in a model whose layers rotate differently.
struct LayerTypeSetup {
    std::string name;  ///< as in the config: "full_attention", "sliding_attention"
    Setup setup;
};

/// A setup made from a model's config.json, with notes for the user on how it was read.
struct ParsedConfig {
    Setup setup;
    /// Layer types; empty if all layers rotate alike. `setup` is that of the first type.
    std::vector<LayerTypeSetup> kinds;
    std::vector<std::string> notes;
};

/// A setup with the rotation of a model.
/// @param setup  provides the other settings
/// @throws Error (usage) for a rotation that a setup cannot represent
Setup setupWithRotation(const RotaryConfig& rotary, Setup setup);

/// Reads the rotary parameters of a Hugging Face config.json into a setup, like transformers 5.24:
/// `rope_theta`, `partial_rotary_factor`, `rope_scaling` or `rope_parameters` with their `rope_type`, flat or
/// nested by kind of layer, also inside `text_config`; local layers with a separate base
/// (`rope_local_base_freq`, `local_rope_theta`); older names (`rotary_emb_base`, `rotary_pct`, `rotary_dim`).
/// The head's width comes from `head_dim`, `qk_rope_head_dim`, or hidden_size / num_attention_heads. Defaults
/// are those of the code of its `model_type`. Fields unrelated to rotation are ignored; related fields that
/// are not understood are named in the notes.
/// @param setup  provides the settings that are not properties of the model
/// @throws Error (usage) naming the field, what is wrong with it, and what is accepted
ParsedConfig readHuggingFaceConfig(std::string_view json, Setup setup);

/// The rotary fields of a config.json for this setup. `nested` writes the newer `rope_parameters`, otherwise
/// `rope_theta` and `rope_scaling`. With LongRoPE's second attention factor the model type is phimoe, the
/// only one that reads it.
/// @throws Error (usage) for what Hugging Face cannot express: the worked example's formula, a rotation of
/// the last features, p-RoPE with a partial rotation, a second attention factor that a phimoe model cannot
/// have
std::string huggingFaceConfig(const Setup& setup, bool nested);

/// The rotary settings of a well-known model, from its config.json on Hugging Face.
struct KnownModel {
    std::string name;
    std::string config;  ///< for `readHuggingFaceConfig`
};

/// Well-known models, one for each common way of setting frequencies.
const std::vector<KnownModel>& knownModels();

}  // namespace roper
