#pragma once

#include <filesystem>
#include <optional>

namespace roper {

/// The GGUF file of the model that a manifest of ollama names: MODELS/manifests/REGISTRY/OWNER/NAME/TAG is a
/// JSON file whose layer of the type application/vnd.ollama.image.model has the digest of
/// MODELS/blobs/sha256-…
/// @param path  a file that is no GGUF file
/// @return nothing for a file that is no manifest
/// @throws Error (usage) saying what is wrong with a manifest and what to name in its place; Error (disk)
std::optional<std::filesystem::path> modelOfOllamaManifest(const std::filesystem::path& path);

}  // namespace roper
