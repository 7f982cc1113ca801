#pragma once

#include "core/model_config/config_fields.h"
#include "core/pretrained/architecture.h"
#include "core/pretrained/gguf_entries.h"

namespace roper {

// What Gemma 3n and 4 have beside other models. Those of a config throw Error (usage), those of a GGUF file
// Error (checkpoint), naming what is wrong.

/// Embeddings of layers: `hidden_size_per_layer_input`, where 0 means none, and the size of their table.
void readLayerEmbeddings(const ConfigFields& config, Architecture& model);
void readGgufLayerEmbeddings(const GgufEntries& entries, Architecture& model);

/// Alternating updates, the learned augmented residual and the cut-offs of gates (Gemma 3n).
void readAlternatingUpdates(const ConfigFields& config, Architecture& model);
void readGgufAlternatingUpdates(const GgufEntries& entries, Architecture& model);

/// The last layers use keys and values of the last layer before them that attends within a window, or to all
/// tokens, as they do.
/// @param usually  default number of such layers
void readSharedKeys(const ConfigFields& config, Architecture& model, int usually);
void readGgufSharedKeys(const GgufEntries& entries, Architecture& model);

/// Of Gemma 4: key/value heads of full-attention layers, values that are keys, and wider feed-forwards.
void readGemma4Layers(const ConfigFields& config, Architecture& model);

}  // namespace roper
