#pragma once

#include <filesystem>
#include <optional>

namespace roper {

/// The GGUF file that an Ollama manifest refers to. MODELS/manifests/REGISTRY/OWNER/NAME/TAG is a JSON file;
/// its layer of type application/vnd.ollama.image.model gives the digest of MODELS/blobs/sha256-…
/// @param path  a file that is not a GGUF file
/// @return nullopt for a file that is not a manifest
/// @throws Error (usage) saying what is wrong with a manifest and what to name instead; Error (disk)
std::optional<std::filesystem::path> modelOfOllamaManifest(const std::filesystem::path& path);

}  // namespace roper
