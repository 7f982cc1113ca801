#include "core/pretrained/model_stores.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/this_process.h"
#include "core/pretrained/model_files.h"

namespace roper {
namespace {

namespace fs = std::filesystem;

/// A folder in which another program keeps published models.
struct ModelStore {
    std::string program;  ///< `StoredModel::program`
    fs::path folder;
    void (*add_models)(const ModelStore& store, std::vector<StoredModel>& models);  ///< by its layout
};

/// Names in a folder, sorted; empty if it cannot be listed.
std::vector<std::string> listed(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code failure;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure))
        names.push_back(entry->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

bool isFolderThere(const fs::path& path) {
    std::error_code failure;
    return fs::is_directory(path, failure);
}

/// GGUF models in a folder, without image projectors.
std::vector<std::string> ggufModelsThere(const fs::path& folder) {
    std::vector<std::string> files;
    for (const std::string& name : listed(folder))
        if (endsAsGguf(name) && isModelFile(folder / name)) files.push_back(name);
    return ggufNames(files).models;
}

bool hasSafetensors(const fs::path& folder) {
    return isModelFile(folder / "config.json") && includesSafetensors(listed(folder));
}

/// Models in the folder of a repository: its safetensors as one, and each GGUF file, also in subfolders, one
/// for each quantization.
void addRepository(const fs::path& folder, const std::string& title, const std::string& program,
                   std::vector<StoredModel>& models) {
    struct Gguf {
        fs::path path;
        std::string name;
    };
    std::vector<Gguf> files;
    for (const std::string& name : ggufModelsThere(folder))
        files.push_back({folder / name, name});
    for (const std::string& below : listed(folder))
        if (isFolderThere(folder / below))
            for (const std::string& name : ggufModelsThere(folder / below))
                files.push_back({folder / below / name, below + "/" + name});
    const bool has_tensors = hasSafetensors(folder);
    if (has_tensors) models.push_back({title, program, folder});
    const bool is_only_one = files.size() == 1 && !has_tensors;
    for (const Gguf& file : files)
        models.push_back({is_only_one ? title : title + "/" + file.name, program, file.path});
}

/// The revision that a tool of Hugging Face would load: that of refs/main, otherwise the latest.
std::optional<fs::path> snapshotIn(const fs::path& entry) {
    const fs::path snapshots = entry / "snapshots";
    try {
        const auto main = mainSnapshot(entry);
        if (main && !main->empty() && main->find('/') == std::string::npos &&
            isFolderThere(snapshots / *main))
            return snapshots / *main;
    } catch (const Error&) {  // an unreadable reference is as good as none
    }
    std::optional<fs::path> latest;
    fs::file_time_type latest_time;
    for (const std::string& name : listed(snapshots)) {
        std::error_code failure;
        const fs::file_time_type time = fs::last_write_time(snapshots / name, failure);
        if (failure || !isFolderThere(snapshots / name) || (latest && time <= latest_time)) continue;
        latest = snapshots / name;
        latest_time = time;
    }
    return latest;
}

/// models--OWNER--NAME/snapshots/REVISION/…
void addHub(const ModelStore& store, std::vector<StoredModel>& models) {
    constexpr std::string_view kPrefix = "models--", kSlash = "--";
    for (const std::string& name : listed(store.folder)) {
        if (!name.starts_with(kPrefix)) continue;
        const auto snapshot = snapshotIn(store.folder / name);
        if (!snapshot) continue;
        std::string title = name.substr(kPrefix.size());
        if (const std::size_t slash = title.find(kSlash); slash != std::string::npos)
            title.replace(slash, kSlash.size(), "/");
        addRepository(*snapshot, title, store.program, models);
    }
}

/// OWNER/NAME/…
void addOwners(const ModelStore& store, std::vector<StoredModel>& models) {
    for (const std::string& owner : listed(store.folder))
        for (const std::string& name : listed(store.folder / owner))
            if (isFolderThere(store.folder / owner / name))
                addRepository(store.folder / owner / name, owner + "/" + name, store.program, models);
}

/// manifests/REGISTRY/OWNER/NAME/TAG and blobs/. Titles are those of `ollama list`: "NAME:TAG" from Ollama's
/// own library, otherwise with the owner, and with the registry if it is another.
void addManifests(const ModelStore& store, std::vector<StoredModel>& models) {
    const fs::path manifests = store.folder / "manifests";
    for (const std::string& registry : listed(manifests))
        for (const std::string& owner : listed(manifests / registry))
            for (const std::string& name : listed(manifests / registry / owner))
                for (const std::string& tag : listed(manifests / registry / owner / name)) {
                    const fs::path path = manifests / registry / owner / name / tag;
                    if (!isModelFile(path)) continue;
                    std::string title = name + ":" + tag;
                    const bool is_default = registry == "registry.ollama.ai";
                    if (owner != "library" || !is_default) title = owner + "/" + title;
                    if (!is_default) title = registry + "/" + title;
                    models.push_back({title, store.program, path});
                }
}

/// GGUF files.
void addFiles(const ModelStore& store, std::vector<StoredModel>& models) {
    for (const std::string& name : ggufModelsThere(store.folder))
        models.push_back({name.substr(0, name.size() - std::string_view(".gguf").size()), store.program,
                          store.folder / name});
}

/// The folder chosen in LM Studio's settings, if any.
std::optional<fs::path> chosenInLmStudio(const fs::path& home) {
    constexpr std::uint64_t kMaxSettings = 1U << 20U;
    const fs::path settings = home / "settings.json";
    if (!isModelFile(settings)) return std::nullopt;
    try {
        const auto json =
            nlohmann::json::parse(readFile(FilePath::regular(settings), kMaxSettings), nullptr, false);
        const auto member = json.is_object() ? json.find("downloadsFolder") : json.end();
        if (member != json.end() && member->is_string()) return member->get<std::string>();
    } catch (const Error&) {  // the default folder is searched anyway
    }
    return std::nullopt;
}

/// The stores that exist on this machine, each folder once.
std::vector<ModelStore> modelStores() {
    const auto valueOr = [](const char* name, const fs::path& default_value) {
        const std::string value = environmentVariable(name);
        return value.empty() ? default_value : fs::path(value);
    };
    const fs::path home = valueOr("HOME", "/"), cache = valueOr("XDG_CACHE_HOME", home / ".cache"),
                   hub_home = valueOr("HF_HOME", cache / "huggingface");
    std::vector<ModelStore> stores;
    std::set<fs::path> known;
    const auto add = [&](const char* program, const fs::path& folder,
                         decltype(ModelStore::add_models) add_models) {
        std::error_code failure;
        const fs::path unique = fs::canonical(folder, failure);
        if (!failure && isFolderThere(unique) && known.insert(unique).second)
            stores.push_back({program, folder, add_models});
    };
    add("Hugging Face", valueOr("HF_HUB_CACHE", hub_home / "hub"), addHub);
    for (const fs::path& folder : {home / ".lmstudio", home / ".cache" / "lm-studio"}) {
        if (const auto chosen = chosenInLmStudio(folder)) add("LM Studio", *chosen, addOwners);
        add("LM Studio", folder / "models", addOwners);
    }
    add("Ollama", valueOr("OLLAMA_MODELS", home / ".ollama" / "models"), addManifests);
    add("Ollama", "/usr/share/ollama/.ollama/models", addManifests);
    add("llama.cpp", valueOr("LLAMA_CACHE", cache / "llama.cpp"), addFiles);
    return stores;
}

}  // namespace

std::vector<StoredModel> storedModels() {
    std::vector<StoredModel> models;
    for (const ModelStore& store : modelStores()) {
        const auto first = std::ssize(models);
        store.add_models(store, models);
        std::stable_sort(models.begin() + first, models.end(),
                         [](const StoredModel& a, const StoredModel& b) { return a.title < b.title; });
    }
    return models;
}

}  // namespace roper
