#pragma once

#include "core/base/file_path.h"

namespace roper {

/// Where a published model lies that a person named: a GGUF file, or a folder with config.json.
struct ModelPlace {
    FilePath path;
    bool is_gguf = false;
};

/// Whether a path is meant as a published model: a GGUF file of any name or of any part of one, a folder with
/// config.json or GGUF files, an entry of Hugging Face's cache, a manifest of ollama, or a file that belongs
/// to a model. A run's folder is none.
bool isPretrainedModel(const FilePath& path);

/// What such a path leads to.
/// @throws Error (usage) saying what lies there and what to name in its place; Error (disk)
ModelPlace placeOfModel(const FilePath& path);

}  // namespace roper
