#include "core/runs/run_labels.h"

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/fields/toml_text.h"
#include "core/runs/trusted_folders.h"

namespace roper {
namespace {

constexpr std::uint64_t kMaxLabelBytes = 1 << 20;

bool isTag(const std::string& text) {
    return !text.empty() && text.find_first_of(" \t\r\n") == std::string::npos;
}

std::vector<std::string> readTags(const toml::node& node, const std::string& origin) {
    if (!node.is_array()) refuseToml(origin, node.source(), "tags must be a list such as [\"thesis\"]");
    std::vector<std::string> tags;
    for (const toml::node& each : *node.as_array()) {
        tags.push_back(readTomlText(each, origin, "a tag"));
        if (!isTag(tags.back())) refuseToml(origin, each.source(), "a tag must be one word");
    }
    return tags;
}

}  // namespace

FilePath labelsPath(const RunFolder& run) {
    return run.file("labels.toml");
}

RunLabels parseLabels(std::string_view text, const std::string& origin) {
    RunLabels labels;
    for (const auto& [key, node] : parseToml(text, origin)) {
        if (key == "experiment")
            labels.experiment = readTomlText(node, origin, "experiment");
        else if (key == "note")
            labels.note = readTomlText(node, origin, "note");
        else if (key == "tags")
            labels.tags = readTags(node, origin);
        else
            refuseToml(origin, key.source(),
                       "unknown key \"" + std::string(key.str()) + "\"; expected experiment, tags or note");
    }
    return labels;
}

RunLabels readLabels(const RunFolder& run) {
    const FilePath path = labelsPath(run);
    if (!pathExists(path)) return {};
    return parseLabels(readFile(path, kMaxLabelBytes), path.string());
}

std::string toToml(const RunLabels& labels) {
    std::string text = "# Labels of this run; they can be changed at any time.\n";
    if (!labels.experiment.empty()) text += "experiment = " + quotedToml(labels.experiment) + '\n';
    std::vector<std::string> tags;
    for (const std::string& tag : labels.tags)
        tags.push_back(quotedToml(tag));
    if (!tags.empty()) text += "tags = [" + join(tags, ", ") + "]\n";
    if (!labels.note.empty()) text += "note = " + quotedToml(labels.note) + '\n';
    return text;
}

void writeLabels(const RunFolder& run, const RunLabels& labels) {
    for (const std::string& tag : labels.tags)
        if (!isTag(tag)) throw Error(ErrorKind::usage, "a tag must be one word, not \"" + tag + "\"");
    requireOwnedOrTrusted(run.path());
    writeFileAtomically(labelsPath(run), toToml(labels));
}

}  // namespace roper
