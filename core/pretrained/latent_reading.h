#pragma once

#include "core/model_config/config_fields.h"
#include "core/pretrained/family.h"
#include "core/pretrained/gguf_entries.h"

namespace roper {

/// Reads multi-head latent attention, if the family has it, after the rotation: until then, heads consist of
/// their rotated features.
/// @throws Error (usage) naming the member
void readLatentAttention(const ConfigFields& config, const LatentRules& rules, Architecture& model);

/// The same from a GGUF file, before the rotation. @throws Error (checkpoint) naming the file and the entry
void readGgufLatentAttention(const GgufEntries& entries, Architecture& model);

}  // namespace roper
