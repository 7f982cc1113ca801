#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file_path.h"
#include "core/runs/run_folder.h"

namespace roper {

/// Writes a run's checkpoint as a Hugging Face folder of the family GPT-NeoX: config.json, model.safetensors
/// (float32), and tokenizer.json where every token is one character. transformers reads it and computes the
/// same. The folder must not exist; it is there whole or not at all.
/// @param step  of the checkpoint; the newest if not given
/// @returns what a person should know about it
/// @throws Error (usage) for a run that this family cannot hold: RoPER and xPos, learned positions or biases,
/// trained frequencies, linear attention, norms after the sums, both directions; or for a folder that exists;
/// Error (checkpoint), Error (disk)
std::vector<std::string> exportGptNeox(const RunFolder& run, std::optional<std::int64_t> step,
                                       const FilePath& folder);

}  // namespace roper
