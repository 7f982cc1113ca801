#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/strict_json.h"
#include "core/pretrained/model_location.h"

namespace roper {
namespace {

namespace fs = std::filesystem;

constexpr const char *kModel = "application/vnd.ollama.image.model",
                     *kAdapter = "application/vnd.ollama.image.adapter";
constexpr std::uint64_t kMaxBytes = 1 << 20;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
    throw Error(ErrorKind::usage, path.string() + " " + why);
}

/// The folder that contains manifests/ and blobs/; empty if the file is not inside such a folder.
fs::path modelsFolder(const fs::path& file) {
    for (fs::path folder = fs::absolute(file).parent_path(); folder.has_relative_path();
         folder = folder.parent_path())
        if (folder.filename() == "manifests") return folder.parent_path();
    return {};
}

/// The digests of the manifest's layers of this type. @throws std::invalid_argument or a JSON exception if
/// the manifest has another structure
std::vector<std::string> digestsOf(const nlohmann::json& manifest, const char* type) {
    std::vector<std::string> digests;
    for (const nlohmann::json& layer : manifest.at("layers"))
        if (layer.at("mediaType") == type) digests.push_back(layer.at("digest").get<std::string>());
    return digests;
}

}  // namespace

std::optional<fs::path> modelOfOllamaManifest(const fs::path& path) {
    const fs::path models = modelsFolder(path);
    std::error_code failure;
    if (fs::file_size(path, failure) > kMaxBytes || failure) return std::nullopt;
    const std::string text = readFile(FilePath::regular(path), kMaxBytes);
    std::vector<std::string> digests, adapters;
    bool is_manifest = false;
    try {
        const nlohmann::json manifest = parseStrictJson(text);
        is_manifest =
            manifest.is_object() && manifest.contains("schemaVersion") && manifest.contains("layers");
        if (!is_manifest && models.empty()) return std::nullopt;
        digests = digestsOf(manifest, kModel);
        adapters = digestsOf(manifest, kAdapter);
    } catch (const std::exception&) {  // invalid JSON or structure
        if (models.empty() && !is_manifest) return std::nullopt;
        refuse(path, "cannot be read as a manifest: name another of Ollama's manifests, or a GGUF file");
    }
    if (models.empty())
        refuse(
            path,
            "is a manifest outside Ollama's folder \"manifests\": name the manifest in that folder, or the "
            "GGUF file in the folder \"blobs\" next to it");
    const std::string blobs = (models / "blobs").string();
    if (digests.size() != 1)
        refuse(path, "is a manifest " +
                         (digests.empty() ? std::string("without a GGUF model")
                                          : "with " + std::to_string(digests.size()) + " GGUF models") +
                         ": name another manifest, or a GGUF file in " + blobs);
    static const std::regex digest_pattern("sha256:[0-9a-f]{64}");
    if (!std::regex_match(digests.front(), digest_pattern))
        refuse(path, "is a manifest whose model has no SHA-256 digest: name a GGUF file in " + blobs);
    const fs::path blob = models / "blobs" / ("sha256-" + digests.front().substr(7));
    if (!adapters.empty())
        refuse(path, "is a manifest of a model with an adapter, which is not supported: name " +
                         blob.string() + " for the model without it");
    if (!fs::is_regular_file(blob, failure))
        refuse(path, "names " + blob.string() + ", which is missing: pull the model again, or name another");
    return blob;
}

}  // namespace roper
