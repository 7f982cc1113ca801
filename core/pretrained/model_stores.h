#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/this_process.h"

namespace roper {

/// A folder in which another program keeps published models.
struct ModelStore {
    enum class Layout {
        hugging_face,  ///< models--OWNER--NAME/snapshots/REVISION/…
        lm_studio,     ///< OWNER/NAME/…
        ollama,        ///< manifests/REGISTRY/OWNER/NAME/TAG and blobs/
        flat           ///< GGUF files (llama.cpp)
    };
    std::string program;  ///< name for the user: "Hugging Face"
    Layout layout = Layout::flat;
    std::filesystem::path folder;
};

/// A model in a store.
struct StoredModel {
    std::string title;           ///< "OWNER/NAME", with the file's name if a repository has several models
    std::string program;         ///< `ModelStore::program`
    std::filesystem::path path;  ///< for `locateModel`
};

/// Value of an environment variable; empty if it is unset.
using Environment = std::function<std::string(const std::string& name)>;

/// The stores that exist on this machine, each folder once: Hugging Face's cache (HF_HUB_CACHE, HF_HOME,
/// XDG_CACHE_HOME), which llama.cpp shares since 2026; LM Studio's folders, including the one chosen in its
/// settings; Ollama's (OLLAMA_MODELS, the user's and the service's); llama.cpp's former cache (LLAMA_CACHE).
std::vector<ModelStore> modelStores(const Environment& environment = environmentVariable);

/// The models of a store, by title. Image projectors and folders without parameters are left out. Whether a
/// model can be read is not checked. Folders that cannot be listed count as empty.
std::vector<StoredModel> modelsIn(const ModelStore& store);

/// The models of all stores on this machine, store by store.
std::vector<StoredModel> storedModels(const Environment& environment = environmentVariable);

}  // namespace roper
