#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roper {

/// A published model that another program keeps on this machine.
struct StoredModel {
    std::string title;           ///< "OWNER/NAME", with the file's name if a repository has several models
    std::string program;         ///< name for the user: "Hugging Face"
    std::filesystem::path path;  ///< for `locateModel`
};

/// The models in the folders of other programs, folder by folder and by title: Hugging Face's cache
/// (HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME), which llama.cpp shares since 2026; LM Studio's folders, including
/// the one chosen in its settings; Ollama's (OLLAMA_MODELS, the user's and the service's); llama.cpp's former
/// cache (LLAMA_CACHE). Image projectors and folders without parameters are left out. Whether a model can be
/// read is not checked. Folders that cannot be listed count as empty.
std::vector<StoredModel> storedModels();

}  // namespace roper
