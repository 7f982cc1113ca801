#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file_path.h"
#include "core/runs/run_folder.h"

namespace roper {

/// Writes a run's checkpoint as a Hugging Face folder of the GPT-NeoX family: config.json, model.safetensors
/// (float32), and tokenizer.json with one token per character. transformers computes the same from it. The
/// folder must not exist and is created atomically.
/// @param step  of the checkpoint; default: the newest
/// @returns notes for the user
/// @throws Error (usage) for a run that this family cannot represent (RoPER and xPos, learned positions or
/// biases, trained frequencies, linear attention, post-norm, bidirectional attention), or if the folder
/// exists; Error (checkpoint), Error (disk)
std::vector<std::string> exportGptNeox(const RunFolder& run, std::optional<std::int64_t> step,
                                       const FilePath& folder);

}  // namespace roper
