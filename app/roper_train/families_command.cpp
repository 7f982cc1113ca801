// Models compared: how the layers of each rotate, and what that does on a text.

#include <algorithm>
#include <iostream>

#include "app/roper_train/commands.h"
#include "app/roper_train/json_line.h"
#include "core/base/text.h"
#include "core/explorer/hugging_face.h"
#include "core/explorer/layer_group.h"
#include "core/pretrained/model_stores.h"
#include "core/reading/head_observer.h"
#include "core/reading/run_model.h"

namespace roper {
namespace {

using Json = nlohmann::ordered_json;

/// The layers of a model, grouped by rotation and window.
std::vector<LayerGroup> groupsOf(const std::string& name, const Architecture& model) {
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
    if (text.empty()) return {};
    const Question question{.what = "heads", .text = text};
    return observeHeads({reader, question, reader.encode(text), {}});
}

constexpr const char* kColumns[] = {
    "model",      "family",        "kind",         "layers",  "window", "head_dim",      "rotated",
    "theta_max",  "theta_min",     "never_turn",   "context", "sinks",  "values_rotate", "values_rotate_back",
    "slow_share", "mean_distance", "even_distance"};

/// A value as a cell of the table: of layers, their number; empty if it is unknown.
std::string cellOf(const Json& row, const std::string& column) {
    if (!row.contains(column) || row[column].is_null()) return "";
    const Json& value = row[column];
    if (column == "layers") return value.empty() ? "" : std::to_string(value.size());
    if (value.is_number_float()) return formatRounded(value.get<double>(), 4);
    return value.is_string() ? tableCell(value.get<std::string>()) : value.dump();
}

std::vector<LayerGroup> groupsOf(const std::filesystem::path& path, const FamiliesOptions& options) {
    if (path.extension() == ".json") {  // without parameters, so it cannot read a text
        const std::string folder = std::filesystem::absolute(path).parent_path().filename().string();
        return layerGroupsOf(folder, readRotationFile(path));
    }
    ModelReader reader(
        isPretrainedModel(path) ? openPublished(path) : openRun(findRun(path.string(), options.runs)),
        {.threads = options.threads});
    std::vector<LayerGroup> groups = groupsOf(reader.model().name, reader.architecture());
    if (const HeadsAnswer on_text = headsOn(options.text, reader); !on_text.heads.empty())
        for (LayerGroup& group : groups) {
            addMeans(on_text.heads, group);
            group.even_distance =
                evenDistance(reader.architecture(), group.window, std::ssize(on_text.tokens));
        }
    return groups;
}

}  // namespace

int familiesCommand(const FamiliesOptions& options) {
    const ExitOnClosedOutput exit_on_closed_output;
    const std::vector<std::filesystem::path> models =
        options.models.empty() ? mapped(storedModels(), &StoredModel::path) : options.models;
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
    };
    if (options.well_known)
        for (const KnownModel& model : knownModels())
            print(layerGroupsOf(model.name, readRotation(model.config)));
    return answerEach(
        models, options.json, [&](const std::filesystem::path& path) { print(groupsOf(path, options)); },
        [](const std::filesystem::path& path) {
            return Json{{"model", path.string()}};
        });
}

}  // namespace roper
