#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace roper {

/// Whether this may be a model in a single file: a regular file, or a link to one. False if that cannot be
/// determined.
bool isModelFile(const std::filesystem::path& path);

/// Names of the GGUF models in a folder; the first part stands for a split model. Projectors, which encode
/// images for a model, are listed apart.
struct GgufNames {
    std::vector<std::string> models, projectors;
};
/// @param names  of GGUF files, whether or not they end in ".gguf"
GgufNames ggufNames(const std::vector<std::string>& names);

/// Whether the name ends in ".gguf".
bool endsAsGguf(const std::filesystem::path& path);

/// Whether any name ends in ".safetensors".
bool includesSafetensors(const std::vector<std::string>& names);

/// The snapshot named in the file refs/main of an entry of Hugging Face's cache; nullopt without that file.
/// Whether the snapshot exists is not checked.
/// @throws Error (disk) if the file cannot be read or is longer than any name
std::optional<std::string> mainSnapshot(const std::filesystem::path& entry);

}  // namespace roper
