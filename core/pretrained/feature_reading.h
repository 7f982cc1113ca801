#pragma once

#include <vector>

#include "core/model_config/config_fields.h"
#include "core/pretrained/family.h"
#include "core/pretrained/gguf_entries.h"

// Readers of features that only some families have, from a config.json and from a GGUF file. Those of a
// config throw Error (usage) naming the member, those of a GGUF file Error (checkpoint) naming the file and
// the entry.

namespace roper {

/// Reads multi-head latent attention, if the family has it. To be called after the rotation was read: until
/// then, heads consist of their rotated features.
void readLatentAttention(const ConfigFields& config, const LatentDefaults& rules, Architecture& model);

/// The same from a GGUF file, to be called before the rotation is read.
void readGgufLatentAttention(const GgufEntries& entries, Architecture& model);

/// Reads which layers are mixtures of experts, and how these choose experts. All other sizes must be known.
void readMixture(const ConfigFields& config, const ConfigRules& rules, Architecture& model);

/// The same from a GGUF file.
void readGgufMixture(const GgufEntries& entries, const Family& family, Architecture& model);

/// Sets the mixer of each layer, once rotations are known, and makes layers without attention not rotate.
void setMixers(std::vector<Mixer> mixers, Architecture& model);

/// Gated delta rules and the layers that compute them: every layer but those with "full_attention" in
/// `layer_types`, or else every n-th for n `full_attention_interval` (Qwen3-Next).
void readGatedDelta(const ConfigFields& config, Architecture& model);

/// The same from a GGUF file.
void readGgufGatedDelta(const GgufEntries& entries, Architecture& model);

/// Per-layer embeddings: `hidden_size_per_layer_input` (0: none), and the size of their table.
void readLayerEmbeddings(const ConfigFields& config, Architecture& model);
void readGgufLayerEmbeddings(const GgufEntries& entries, Architecture& model);

/// Alternating updates, the learned augmented residual and the cutoffs of gates (Gemma 3n).
void readAlternatingUpdates(const ConfigFields& config, Architecture& model);
void readGgufAlternatingUpdates(const GgufEntries& entries, Architecture& model);

/// The last layers use keys and values of the last earlier layer with the same kind of attention, windowed or
/// full.
/// @param usually  default number of such layers
void readSharedKeys(const ConfigFields& config, Architecture& model, int usually);
void readGgufSharedKeys(const GgufEntries& entries, Architecture& model);

/// Key/value heads of full-attention layers, values that are keys, and wider feed-forwards (Gemma 4).
void readGemma4Layers(const ConfigFields& config, Architecture& model);

}  // namespace roper
