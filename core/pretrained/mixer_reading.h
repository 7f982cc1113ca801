#pragma once

#include <vector>

#include "core/model_config/config_fields.h"
#include "core/pretrained/architecture.h"
#include "core/pretrained/gguf_entries.h"

namespace roper {

/// Says what mixes the tokens of each layer, once rotations are known: layers that do not attend do not
/// rotate.
void setMixers(std::vector<Mixer> mixers, Architecture& model);

/// Gated delta rules and the layers that compute them: every layer but those with "full_attention" in
/// `layer_types`, or else every n-th for n `full_attention_interval` (Qwen3-Next).
/// @throws Error (usage) naming the member
void readGatedDelta(const ConfigFields& config, Architecture& model);

/// The same from a GGUF file. @throws Error (checkpoint) naming the file and the entry
void readGgufGatedDelta(const GgufEntries& entries, Architecture& model);

}  // namespace roper
