#include "core/specification/presets.h"

#include <algorithm>
#include <string_view>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {

namespace fs = std::filesystem;

fs::path resourceFolder(const std::string& kind) {
    const fs::path program = fs::read_symlink("/proc/self/exe");
    for (fs::path folder = program.parent_path(); folder != folder.root_path();
         folder = folder.parent_path()) {
        for (const fs::path& candidate : {folder / "resources" / kind, folder / "share" / "roper-lab" / kind})
            if (fs::is_directory(candidate)) return candidate;
    }
    throw Error(ErrorKind::usage, "the folder " + kind + " of " + program.string() +
                                      " is missing; build or install RoPER Lab again");
}

std::vector<std::string> resourceNames(const std::string& kind) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(resourceFolder(kind)))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

std::vector<std::string> presetNames() {
    return resourceNames("presets");
}

Preset loadPreset(const std::string& name) {
    const std::vector<std::string> names = presetNames();
    if (!hasElement(names, name)) {
        const auto nearest = closestName(name, names);
        throw Error(ErrorKind::usage,
                    "unknown preset \"" + name + "\"" + (nearest ? "; did you mean " + *nearest + "?" : ";") +
                        " `roper-train presets` lists them; a file must be given by its path");
    }
    const fs::path path = resourceFolder("presets") / (name + ".toml");
    return {name, path, readSpecification(path)};
}

fs::path textPath(const std::string& text) {
    if (!text.empty() && text.find('/') == std::string::npos) {
        const fs::path bundled = resourceFolder("texts") / (text + ".txt");
        if (fs::exists(bundled)) return bundled;
    }
    return text;
}

fs::path initialWeightsPath(const Specification& specification, const fs::path& runs) {
    constexpr std::string_view kSeed = "{seed}";
    std::string weights = specification.training.initial_weights;
    for (std::size_t at = weights.find(kSeed); at != std::string::npos; at = weights.find(kSeed))
        weights.replace(at, kSeed.size(), std::to_string(specification.training.model_seed));
    return weights.find('/') == std::string::npos ? runs / weights : fs::path(weights);
}

Specification withAbsolutePaths(Specification specification) {
    const auto absolute = [](const fs::path& path) { return fs::absolute(path).lexically_normal().string(); };
    std::string& weights = specification.training.initial_weights;
    if (weights.find('/') != std::string::npos) weights = absolute(weights);
    const std::string text = specification.task.specific_settings.text("text");
    if (specification.task.isText() && !text.empty() && textPath(text) == fs::path(text))
        specification.task.specific_settings.set("text", absolute(text));
    return specification;
}

}  // namespace roper
