// Models compared: how the layers of each rotate, and what that does on a text.

#include <algorithm>
#include <iostream>
#include <numbers>

#include "app/roper_train/commands.h"
#include "app/roper_train/json_line.h"
#include "core/base/text.h"
#include "core/pretrained/model_stores.h"
#include "core/reading/head_observer.h"
#include "core/reading/run_model.h"

namespace roper {
namespace {

using Json = nlohmann::ordered_json;

/// The layers of a model with the same rotation and window.
struct LayerGroup {
    std::vector<std::int64_t> layers;
    const RotaryConfig* rotation = nullptr;
    std::int64_t window = 0;  ///< tokens that a query sees; 0: all
};

std::vector<LayerGroup> groupsOf(const Architecture& model) {
    std::vector<LayerGroup> groups;
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        if (!model.hasHeads(layer)) continue;
        const RotaryConfig* const rotation = &model.rotationOf(layer);
        const std::int64_t window = model.isWindowed(layer) ? model.window : 0;
        auto group = std::ranges::find_if(
            groups, [&](const LayerGroup& one) { return one.rotation == rotation && one.window == window; });
        if (group == groups.end()) group = groups.insert(groups.end(), {{}, rotation, window});
        group->layers.push_back(layer);
    }
    return groups;
}

/// Means over the heads of a group of layers, as defined in HeadReport.
struct TextStatistics {
    double slow_share = 0, mean_distance = 0;
};
TextStatistics statisticsOf(const std::vector<std::int64_t>& layers, const std::vector<HeadReport>& heads) {
    TextStatistics mean;
    double count = 0;
    for (const HeadReport& head : heads) {
        if (!hasElement(layers, head.layer)) continue;
        mean.slow_share += head.slow_share;
        mean.mean_distance += head.mean_distance;
        ++count;
    }
    return {mean.slow_share / count, mean.mean_distance / count};
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

/// @param on_text  statistics of the heads on a text; without heads if no text is given
Json rowOf(const LayerGroup& group, const Architecture& model, const HeadsAnswer& on_text) {
    const auto context = static_cast<double>(model.context);
    const Eigen::VectorXd theta = group.rotation->frequenciesForLength(context).theta;
    const auto never_turn =
        std::ranges::count_if(theta, [&](double one) { return one * context < 2 * std::numbers::pi; });
    const auto pairs = static_cast<std::int64_t>(theta.size());
    Json row = {{"family", model.family},
                {"context", model.context},
                {"layers", group.layers},
                {"window", group.window},
                {"head_dim", group.rotation->head_dim},
                {"rotated", 2 * pairs},
                {"theta_max", pairs > 0 ? Json(theta.maxCoeff()) : Json()},
                {"theta_min", pairs > 0 ? Json(theta.minCoeff()) : Json()},
                {"never_turn", never_turn},
                {"sinks", model.has_sinks},
                {"values_rotate", model.rotatesValues()},
                {"values_rotate_back", model.rotatesValues() && model.rotatesOutputs()}};
    if (!on_text.heads.empty()) {
        const TextStatistics mean = statisticsOf(group.layers, on_text.heads);
        row["slow_share"] = mean.slow_share;
        row["mean_distance"] = mean.mean_distance;
        row["even_distance"] = evenDistance(model, group.window, std::ssize(on_text.tokens));
    }
    return row;
}

HeadsAnswer headsOn(const std::string& text, ModelReader& reader) {
    if (text.empty()) return {};
    const Question question{.what = "heads", .text = text};
    return observeHeads({reader, question, reader.encode(text), {}});
}

constexpr const char* kColumns[] = {"model",
                                    "family",
                                    "layers",
                                    "window",
                                    "head_dim",
                                    "rotated",
                                    "theta_max",
                                    "theta_min",
                                    "never_turn",
                                    "context",
                                    "sinks",
                                    "values_rotate",
                                    "values_rotate_back",
                                    "slow_share",
                                    "mean_distance",
                                    "even_distance"};

/// A value as a cell of the table; lists of layers become their number.
std::string cellOf(const Json& row, const std::string& column) {
    if (!row.contains(column) || row[column].is_null()) return "";
    const Json& value = row[column];
    if (column == "layers") return std::to_string(value.size());
    if (value.is_number_float()) return formatRounded(value.get<double>(), 4);
    return value.is_string() ? tableCell(value.get<std::string>()) : value.dump();
}

}  // namespace

int familiesCommand(const FamiliesOptions& options) {
    const ExitOnClosedOutput exit_on_closed_output;
    const std::vector<std::filesystem::path> models =
        options.models.empty() ? mapped(storedModels(), &StoredModel::path) : options.models;
    if (models.empty())
        throw Error(
            ErrorKind::usage,
            "no models found in the caches of other programs (`roper-train models`): give the path of one");
    AnswerWriter writer(std::cout, options.json ? AnswerFormat::json : AnswerFormat::csv);
    writer.columns(join({std::begin(kColumns), std::end(kColumns)}, ","));
    const auto answer = [&](const std::filesystem::path& path) {
        ModelReader reader(
            isPretrainedModel(path) ? openPublished(path) : openRun(findRun(path.string(), options.runs)),
            {.threads = options.threads});
        const HeadsAnswer on_text = headsOn(options.text, reader);
        for (const LayerGroup& group : groupsOf(reader.architecture())) {
            Json row = {{"model", reader.model().name}};
            row.update(rowOf(group, reader.architecture(), on_text));
            if (options.json) {
                writer.line(row);
                continue;
            }
            writer.row(mapped(kColumns, [&](const char* column) { return cellOf(row, column); }));
        }
    };
    return answerEach(models, options.json, answer, [](const std::filesystem::path& path) {
        return Json{{"model", path.string()}};
    });
}

}  // namespace roper
