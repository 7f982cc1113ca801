#pragma once

#include <filesystem>
#include <optional>

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

/// The GGUF file that an Ollama manifest refers to. MODELS/manifests/REGISTRY/OWNER/NAME/TAG is a JSON file;
/// its layer of type application/vnd.ollama.image.model gives the digest of MODELS/blobs/sha256-…
/// @param path  a file that is not a GGUF file
/// @return nullopt for a file that is not a manifest
/// @throws Error (usage) saying what is wrong with a manifest and what to name instead; Error (disk)
std::optional<std::filesystem::path> modelOfOllamaManifest(const std::filesystem::path& path);

}  // namespace roper
