// Models compared: how the layers of each rotate, and what that does on a text.

#include <algorithm>
#include <iostream>

#include "app/roper_train/commands.h"
#include "app/roper_train/json_line.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/explorer/hugging_face.h"
#include "core/explorer/layer_group.h"
#include "core/pretrained/model_stores.h"
#include "core/reading/head_observer.h"
#include "core/reading/run_model.h"

namespace roper {
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxConfigBytes = 1U << 20U;

using Json = nlohmann::ordered_json;

/// The layers of a model, grouped by rotation and window.
std::vector<LayerGroup> groupsOf(const std::string& name, const Architecture& model,
                                 const std::vector<std::string>& notes) {
    std::vector<LayerGroup> groups;
    std::vector<std::pair<std::size_t, std::int64_t>> keys;  // index of each group's rotation, and its window
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        if (!model.hasHeads(layer)) continue;
        const std::pair key{model.rotation_of_layer[static_cast<std::size_t>(layer)],
                            model.isWindowed(layer) ? model.window : 0};
        const auto found = std::ranges::find(keys, key);
        const auto index = static_cast<std::size_t>(found - keys.begin());
        if (found == keys.end()) {
            keys.push_back(key);
            LayerGroup& group = groups.emplace_back(LayerGroup{.model = name, .family = model.family});
            group.window = key.second;
            group.notes = notes;
            group.sinks = model.has_sinks;
            group.values_rotate = model.rotatesValues();
            group.values_rotate_back = model.rotatesValues() && model.rotatesOutputs();
            group.setRotation(model.rotationOf(layer), model.context);
        }
        groups[index].layers.push_back(static_cast<int>(layer));
    }
    return groups;
}

/// Sets the means over the heads of a group.
void addMeans(const std::vector<HeadReport>& heads, LayerGroup& group) {
    double slow_share = 0, mean_distance = 0, count = 0;
    for (const HeadReport& head : heads) {
        if (!hasElement(group.layers, static_cast<int>(head.layer))) continue;
        slow_share += head.slow_share;
        mean_distance += head.mean_distance;
        ++count;
    }
    group.slow_share = slow_share / count;
    group.mean_distance = mean_distance / count;
}

/// The mean distance |n − j| of a head whose queries n ≥ 1 in T tokens attend equally to all keys that they
/// see: a reference for `mean_distance`, since a window allows only short distances.
double evenDistance(const Architecture& model, std::int64_t window, std::int64_t T) {
    const std::int64_t farthest = window > 0 ? window - 1 : T;
    double sum = 0;
    for (std::int64_t n = 1; n < T; ++n) {
        const auto before =
                       static_cast<double>(model.chunked && window > 0 ? n % window : std::min(n, farthest)),
                   after = model.causal ? 0.0 : static_cast<double>(std::min(T - 1 - n, farthest));
        sum += (before * (before + 1) + after * (after + 1)) / 2 / (before + 1 + after);
    }
    return sum / static_cast<double>(T - 1);
}

HeadsAnswer headsOn(const std::string& text, ModelReader& reader) {
    const Question question{.what = "heads", .text = text};
    return observeHeads({reader, question, reader.encode(text), {}});
}

constexpr const char* kColumns[] = {
    "model",      "family",        "kind",         "layers",  "window", "head_dim",      "rotated",
    "theta_max",  "theta_min",     "never_turn",   "context", "sinks",  "values_rotate", "values_rotate_back",
    "slow_share", "mean_distance", "even_distance"};

/// A value as a cell of the table, empty if it is unknown; a list of layers becomes their number.
std::string cellOf(const Json& row, const std::string& column) {
    if (!row.contains(column) || row[column].is_null()) return "";
    const Json& value = row[column];
    if (column == "layers") return value.empty() ? "" : std::to_string(value.size());
    if (value.is_number_float()) return formatRounded(value.get<double>(), 4);
    return value.is_string() ? tableCell(value.get<std::string>()) : value.dump();
}

/// The groups of layers of a config.json, also of a model type that cannot be run.
std::vector<LayerGroup> groupsOfConfig(const fs::path& config) {
    const fs::path absolute = fs::absolute(config);
    const bool is_usual_name = absolute.filename() == "config.json";
    const std::string name = (is_usual_name ? absolute.parent_path().filename() : absolute.stem()).string();
    try {
        const ParsedArchitecture parsed = readConfigArchitecture(readFile(config, kMaxConfigBytes));
        return groupsOf(name, parsed.architecture, parsed.notes);
    } catch (const Error&) {
        return layerGroupsOf(name, readRotationFile(config));  // unsupported, or not a whole config
    }
}

std::vector<LayerGroup> groupsOf(const fs::path& path, const FamiliesOptions& options) {
    if (fs::is_regular_file(path) && lowerCase(path.extension().string()) == ".json")
        return groupsOfConfig(path);  // without parameters, so it cannot read a text
    const bool is_published = isPretrainedModel(path);
    if (options.text.empty()) {
        if (is_published && pathExists(path / "config.json")) return groupsOfConfig(path / "config.json");
        const PretrainedModel model =
            is_published ? openPretrainedModel(path) : openRunModel(findRun(path.string(), options.runs));
        return groupsOf(model.name, model.architecture, model.notes);
    }
    ModelReader reader(is_published ? openPublished(path) : openRun(findRun(path.string(), options.runs)),
                       {.threads = options.threads});
    std::vector<LayerGroup> groups =
        groupsOf(reader.model().name, reader.architecture(), reader.model().notes);
    const HeadsAnswer on_text = headsOn(options.text, reader);
    for (LayerGroup& group : groups) {
        addMeans(on_text.heads, group);
        group.even_distance =
            evenDistance(reader.architecture(), group.window.value_or(0), std::ssize(on_text.tokens));
    }
    return groups;
}

}  // namespace

int familiesCommand(const FamiliesOptions& options) {
    const ExitOnClosedOutput exit_on_closed_output;
    std::vector<StoredModel> models;
    if (options.models.empty()) models = storedModels();
    for (const fs::path& path : options.models)
        models.push_back({{}, {}, path});
    if (models.empty() && !options.well_known)
        throw Error(ErrorKind::usage,
                    "no models found in the caches of other programs (`roper-train models`): give the path "
                    "of one, or --well-known");
    AnswerWriter writer(std::cout, options.json ? AnswerFormat::json : AnswerFormat::csv);
    writer.columns(join({std::begin(kColumns), std::end(kColumns)}, ","));
    const auto print = [&](const std::vector<LayerGroup>& groups) {
        for (const LayerGroup& group : groups) {
            const Json row = toJson(group);
            if (options.json)
                writer.line(row);
            else
                writer.row(mapped(kColumns, [&](const char* column) { return cellOf(row, column); }));
        }
        if (!options.json && !groups.empty())
            for (const std::string& note : groups.front().notes)
                reportToUser("roper-train: " + groups.front().model + ": " + note);
    };
    if (options.well_known)
        for (const KnownModel& model : knownModels())
            print(layerGroupsOf(model.name, readRotation(model.config)));
    const auto answer = [&](const StoredModel& model) {
        std::vector<LayerGroup> groups = groupsOf(model.path, options);
        for (LayerGroup& group : groups) {
            group.path = model.path.string();
            if (!model.title.empty()) group.model = model.title;
        }
        print(groups);
    };
    return answerEach(models, options.json, answer, [](const StoredModel& model) {
        return Json{{"model", model.path.string()}};
    });
}

}  // namespace roper
