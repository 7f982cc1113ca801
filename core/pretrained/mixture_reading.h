#pragma once

#include "core/model_config/config_fields.h"
#include "core/pretrained/family.h"
#include "core/pretrained/gguf_entries.h"

namespace roper {

/// Reads which layers of a model are mixtures of experts, and how they choose experts; everything else about
/// sizes must be known.
/// @throws Error (usage) naming the member
void readMixture(const ConfigFields& config, const ConfigRules& rules, Architecture& model);

/// The same from a GGUF file. @throws Error (checkpoint) naming the file and the entry
void readGgufMixture(const GgufEntries& entries, const Family& family, Architecture& model);

}  // namespace roper
