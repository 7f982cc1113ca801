#include "core/pretrained/model_location.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/pretrained/gguf_file.h"
#include "core/pretrained/model_files.h"

namespace roper {
namespace {

namespace fs = std::filesystem;

constexpr const char *kConfigFile = "config.json", *kSnapshots = "snapshots", *kRun = "run.toml";
constexpr std::size_t kMaxListed = 8;

/// Endings of files that belong to a model; the user should name its folder instead.
constexpr std::string_view kPartEndings[] = {
    ".safetensors", ".safetensors.index.json", "config.json", "tokenizer.json", ".bin", ".pth", ".pt"};

/// @throws Error (disk) if this cannot be determined, for example because the name is too long
bool isFolder(const fs::path& path) {
    std::error_code failure;
    const bool is_one = fs::is_directory(path, failure);
    if (failure && failure != std::errc::no_such_file_or_directory && failure != std::errc::not_a_directory)
        throw diskError("read", path.string(), failure.value());
    return is_one;
}

/// Whether the folder contains anything of this name. If it is not a regular file, opening it fails later.
bool hasFile(const fs::path& folder, const char* name) {
    return pathExists(FilePath::regular(folder) / name);
}

/// Whether the file begins like a GGUF file: Ollama and Hugging Face's cache name files by their hash.
bool beginsAsGguf(const fs::path& path) {
    if (!isModelFile(path)) return false;
    try {
        const FilePath file = FilePath::regular(path);
        std::array<char, kGgufMagic.size()> magic{};
        const std::size_t read = readAt(openFile(file, O_RDONLY), magic, 0, file.string());
        return std::string_view(magic.data(), read) == kGgufMagic;
    } catch (const Error&) {
        return false;
    }
}

bool belongsToModel(const fs::path& path) {
    const std::string name = path.filename().string();
    return isModelFile(path) && std::any_of(std::begin(kPartEndings), std::end(kPartEndings),
                                            [&](std::string_view ending) { return name.ends_with(ending); });
}

/// The folder of the run to which a checkpoint file belongs; empty if none.
fs::path enclosingRun(const fs::path& file) {
    const fs::path run = file.parent_path().parent_path();
    return isModelFile(run / kRun) ? run : fs::path();
}

std::vector<std::string> namesInFolder(const fs::path& folder) {
    return listFolder(FilePath::regular(folder));
}

bool holdsSafetensors(const fs::path& folder) {
    return includesSafetensors(namesInFolder(folder));
}

/// GGUF models in a folder, or its projectors if there is nothing else.
std::vector<std::string> ggufModelsIn(const fs::path& folder) {
    std::vector<std::string> files;
    for (const std::string& name : namesInFolder(folder)) {
        const bool is_blob = name.starts_with("sha256-") && beginsAsGguf(folder / name);
        if ((endsAsGguf(name) || is_blob) && isModelFile(folder / name)) files.push_back(name);
    }
    const GgufNames found = ggufNames(files);
    return found.models.empty() ? found.projectors : found.models;
}

std::string listedNames(std::vector<std::string> names) {
    const std::size_t all = names.size();
    if (all > kMaxListed) {
        names.resize(kMaxListed);
        names.push_back("and " + std::to_string(all - kMaxListed) + " more");
    }
    for (std::string& name : names)
        name = toSingleLine(name);
    return join(names, ", ");
}

[[noreturn]] void refuseLocation(const fs::path& path, const std::string& why) {
    throw Error(ErrorKind::usage, path.string() + " " + why);
}

/// The snapshot in a model's folder of Hugging Face's cache: the one named by refs/main, or the only one.
fs::path snapshotOf(const fs::path& entry) {
    std::vector<std::string> names;
    for (const std::string& name : namesInFolder(entry / kSnapshots))
        if (isFolder(entry / kSnapshots / name)) names.push_back(name);
    if (const auto main = mainSnapshot(entry)) {
        if (hasElement(names, *main)) return entry / kSnapshots / *main;
        refuseLocation(entry, "is an entry of Hugging Face's cache whose refs/main names the snapshot " +
                                  quoteExcerpt(*main) + ", which is missing; there are: " +
                                  (names.empty() ? "none" : listedNames(names)));
    }
    if (names.size() == 1) return entry / kSnapshots / names.front();
    refuseLocation(entry, names.empty()
                              ? "is an entry of Hugging Face's cache without a snapshot: download it again"
                              : "is an entry of Hugging Face's cache with several snapshots: name one, " +
                                    std::string("snapshots/") + listedNames(names));
}

bool isCacheEntry(const fs::path& folder) {
    return isFolder(folder / kSnapshots) && !hasFile(folder, kConfigFile);
}

/// Subfolders that hold GGUF models, as in repositories with one folder for each quantization.
std::vector<std::string> foldersWithModels(const fs::path& folder) {
    std::vector<std::string> found;
    for (const std::string& name : namesInFolder(folder))
        if (isFolder(folder / name) && !ggufModelsIn(folder / name).empty()) found.push_back(name);
    return found;
}

std::optional<ModelLocation> locateIn(const fs::path& folder) {
    const bool has_config = hasFile(folder, kConfigFile), has_tensors = holdsSafetensors(folder);
    if (has_config && has_tensors) return ModelLocation{FilePath::regular(folder)};
    const std::vector<std::string> models = ggufModelsIn(folder);
    if (models.size() > 1)
        refuseLocation(folder, "contains " + std::to_string(models.size()) + " models: name one of " +
                                   listedNames(models));
    if (models.size() == 1) return ModelLocation{FilePath::regular(folder / models.front()), true};
    if (has_config) return ModelLocation{FilePath::regular(folder)};
    if (has_tensors)
        refuseLocation(folder, std::string("contains .safetensors files, but no ") + kConfigFile);
    return std::nullopt;
}

ModelLocation locateInSnapshot(const fs::path& snapshot) {
    if (const auto location = locateIn(snapshot)) return *location;
    const std::vector<std::string> below = foldersWithModels(snapshot);
    if (below.size() == 1) return *locateIn(snapshot / below.front());
    refuseLocation(snapshot, below.empty()
                                 ? "contains neither config.json nor a GGUF file"
                                 : "contains models in several folders: name one of " + listedNames(below));
}

/// Model entries of a Hugging Face cache folder.
std::vector<std::string> cacheEntriesIn(const fs::path& folder) {
    std::vector<std::string> entries;
    for (const std::string& name : namesInFolder(folder))
        if (name.starts_with("models--") && isFolder(folder / name / kSnapshots)) entries.push_back(name);
    return entries;
}

ModelLocation locateFile(const fs::path& path) {
    if (beginsAsGguf(path) || !isModelFile(path)) return {FilePath::regular(path), true};
    if (const auto blob = modelOfOllamaManifest(path)) {
        if (beginsAsGguf(*blob)) return {FilePath::regular(*blob), true};
        refuseLocation(path, "names " + blob->string() +
                                 ", which is not a GGUF file: pull the model again, or name another");
    }
    if (endsAsGguf(path)) return {FilePath::regular(path), true};
    if (const fs::path run = enclosingRun(path); !run.empty())
        refuseLocation(path, "belongs to the run " + run.string() +
                                 ": name that, with --step for one of its checkpoints");
    if (belongsToModel(path))
        refuseLocation(
            path,
            "is part of a model: name its folder, which also contains config.json, tokenizer.json and "
            ".safetensors files");
    refuseLocation(path, "is not a model: it does not begin with the letters GGUF");
}

fs::path withoutSlash(const FilePath& path) {
    return path.path().has_filename() ? path.path() : path.path().parent_path();  // "model/"
}

}  // namespace

bool isPretrainedModel(const FilePath& named) {
    const fs::path path = withoutSlash(named);
    // A name without a folder may be the name of a run.
    if (!isFolder(path))
        return endsAsGguf(path) || beginsAsGguf(path) || belongsToModel(path) ||
               (isModelFile(path) && path.has_parent_path());
    if (isModelFile(path / kRun)) return false;
    return hasFile(path, kConfigFile) || isCacheEntry(path) || holdsSafetensors(path) ||
           !ggufModelsIn(path).empty() || !cacheEntriesIn(path).empty();
}

ModelLocation locateModel(const FilePath& named) {
    const fs::path path = withoutSlash(named);
    if (!isFolder(path)) return locateFile(path);
    if (isCacheEntry(path)) return locateInSnapshot(snapshotOf(path));
    if (const auto location = locateIn(path)) return *location;
    const std::vector<std::string> entries = cacheEntriesIn(path);
    refuseLocation(path, entries.empty() ? "contains neither config.json nor a GGUF file"
                                         : "contains entries of Hugging Face's cache: name one of " +
                                               listedNames(entries));
}

}  // namespace roper
