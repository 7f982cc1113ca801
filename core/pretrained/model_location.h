#pragma once

#include "core/base/file_path.h"

namespace roper {

/// Location of a published model: a GGUF file, or a folder with config.json.
struct ModelLocation {
    FilePath path;
    bool is_gguf = false;
};

/// Whether a path stands for a published model: a GGUF file of any name or any part of one, a folder with
/// config.json or GGUF files, an entry of Hugging Face's cache, a manifest of Ollama, or a file that belongs
/// to a model. A run's folder does not.
bool isPretrainedModel(const FilePath& path);

/// Resolves such a path.
/// @throws Error (usage) saying what was found and what to name instead; Error (disk)
ModelLocation locateModel(const FilePath& path);

}  // namespace roper
