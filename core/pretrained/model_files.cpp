#include "core/pretrained/model_files.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>

#include "core/base/file_reading.h"

namespace roper {

namespace fs = std::filesystem;

bool isModelFile(const fs::path& path) {
    std::error_code failure;
    return fs::is_regular_file(path, failure);
}

bool endsAsGguf(const fs::path& path) {
    std::string ending = path.extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return ending == ".gguf";
}

GgufNames ggufNames(const std::vector<std::string>& names) {
    static const std::regex part("(.*)-[0-9]{5}-of-([0-9]{5})\\.gguf");
    std::map<std::string, std::string> first;  // by the common beginning of the names of parts
    for (const std::string& name : names) {
        std::smatch match;
        const bool is_part = std::regex_match(name, match, part);
        first.emplace(is_part ? match[1].str() + "/" + match[2].str() : name, name);
    }
    GgufNames found;
    for (const auto& [key, name] : first)
        (name.find("mmproj") == std::string::npos ? found.models : found.projectors).push_back(name);
    return found;
}

bool includesSafetensors(const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [](const std::string& name) { return name.ends_with(".safetensors"); });
}

std::optional<std::string> mainSnapshot(const fs::path& entry) {
    constexpr std::uint64_t kMaxReferenceBytes = 4096;
    const fs::path main = entry / "refs" / "main";
    if (!isModelFile(main)) return std::nullopt;
    std::string name = readFile(FilePath::regular(main), kMaxReferenceBytes);
    name.erase(std::min(name.find_last_not_of(" \r\n") + 1, name.size()));
    return name;
}

}  // namespace roper
