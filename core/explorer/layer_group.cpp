#include "core/explorer/layer_group.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/explorer/hugging_face.h"
#include "core/explorer/setup_text.h"
#include "core/rotary/spectrum.h"

namespace roper {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json orNull(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

template <class T>
std::optional<T> optionalMember(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? std::nullopt : std::optional(found->get<T>());
}

}  // namespace

std::optional<std::int64_t> LayerGroup::pairsThatNeverTurn() const {
    if (context == 0) return std::nullopt;
    const Eigen::Map<const Eigen::VectorXd> frequencies(theta.data(), std::ssize(theta));
    return std::ssize(theta) - pairsCompletingRotation(frequencies, static_cast<double>(context));
}

void LayerGroup::setRotation(const RotaryConfig& rotation, std::int64_t context_length) {
    context = context_length;
    head_dim = rotation.head_dim;
    theta.clear();
    const auto tokens = static_cast<double>(std::max<std::int64_t>(1, context_length));
    if (rotation.rotatedWidth() > 0)
        for (const double one : rotation.frequenciesForLength(tokens).theta)
            if (one > 0) theta.push_back(one);  // p-RoPE: the other pairs do not rotate
    settings.clear();
    problem.clear();
    try {
        if (rotation.trained.size() > 0) throw Error(ErrorKind::usage, "trained frequencies cannot be shown");
        Setup start;
        if (context > 0)
            start.context_length = std::min(static_cast<double>(context), bounds::kMaxContextLength);
        const Setup setup = setupWithRotation(rotation, start);
        settings = changedSettings(setup);
        if (std::ranges::none_of(settings, [](const auto& one) { return one.first == "head_dim"; }))
            settings.emplace_back("head_dim", std::to_string(setup.head_dim));
    } catch (const Error& refusal) {
        problem = refusal.what();
    }
}

std::vector<LayerGroup> layerGroupsOf(const std::string& model, const ParsedRotation& rotation) {
    if (rotation.is_assumed)
        throw Error(ErrorKind::usage,
                    model + ": nothing in its config.json says that it rotates queries and keys");
    const bool knows_layers =
        std::ranges::any_of(rotation.layers, [](const RotatedLayers& one) { return !one.layers.empty(); });
    std::vector<LayerGroup> groups;
    for (const RotatedLayers& layers : rotation.layers) {
        if (knows_layers && layers.layers.empty()) continue;
        LayerGroup group{.model = model, .family = rotation.model_type, .kind = layers.kind};
        group.layers = layers.layers;
        group.notes = rotation.notes;
        group.values_rotate = rotation.values != ValueRotation::none;
        group.values_rotate_back = rotation.values == ValueRotation::rotated_back;
        group.setRotation(layers.rotary, static_cast<std::int64_t>(rotation.positions));
        group.head_dim += rotation.unrotated_features;
        groups.push_back(std::move(group));
    }
    return groups;
}

Json toJson(const LayerGroup& group) {
    const auto extreme = [&](const auto& of) { return group.theta.empty() ? Json() : Json(of(group.theta)); };
    auto settings = Json::object();
    for (const auto& [key, value] : group.settings)
        settings[key] = value;
    Json json = {{"model", group.model},
                 {"path", group.path},
                 {"family", group.family},
                 {"context", group.context > 0 ? Json(group.context) : Json()},
                 {"kind", group.kind},
                 {"layers", group.layers},
                 {"window", orNull(group.window)},
                 {"head_dim", group.head_dim},
                 {"rotated", 2 * group.theta.size()},
                 {"theta_max", extreme([](const auto& theta) { return std::ranges::max(theta); })},
                 {"theta_min", extreme([](const auto& theta) { return std::ranges::min(theta); })},
                 {"never_turn", orNull(group.pairsThatNeverTurn())},
                 {"sinks", orNull(group.sinks)},
                 {"values_rotate", group.values_rotate},
                 {"values_rotate_back", group.values_rotate_back},
                 {"theta", group.theta},
                 {"settings", settings},
                 {"problem", group.problem},
                 {"notes", group.notes}};
    for (const auto& [key, value] : {std::pair{"slow_share", group.slow_share},
                                     {"mean_distance", group.mean_distance},
                                     {"even_distance", group.even_distance}})
        if (value) json[key] = *value;
    return json;
}

LayerGroup parseLayerGroup(std::string_view text) {
    try {
        const nlohmann::json json = parseStrictJson(text);
        LayerGroup group;
        group.model = json.at("model").get<std::string>();
        if (json.contains("error")) {
            group.path = group.model;
            group.error = json["error"].get<std::string>();
            return group;
        }
        group.path = json.at("path").get<std::string>();
        group.family = json.at("family").get<std::string>();
        group.kind = json.at("kind").get<std::string>();
        group.layers = json.at("layers").get<std::vector<int>>();
        if (!json.at("context").is_null()) group.context = integerMember(json, "context");
        if (!json.at("window").is_null()) group.window = integerMember(json, "window");
        group.head_dim = json.at("head_dim").get<int>();
        group.theta = json.at("theta").get<std::vector<double>>();
        group.sinks = optionalMember<bool>(json, "sinks");
        group.values_rotate = json.at("values_rotate").get<bool>();
        group.values_rotate_back = json.at("values_rotate_back").get<bool>();
        group.slow_share = optionalMember<double>(json, "slow_share");
        group.mean_distance = optionalMember<double>(json, "mean_distance");
        group.even_distance = optionalMember<double>(json, "even_distance");
        for (const auto& [key, value] : json.at("settings").items())
            group.settings.emplace_back(key, value.get<std::string>());
        group.problem = json.at("problem").get<std::string>();
        group.notes = json.at("notes").get<std::vector<std::string>>();
        return group;
    } catch (const nlohmann::json::exception& error) {
        throw Error(ErrorKind::other, std::string("a row of layers cannot be read: ") + error.what());
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::other, std::string("a row of layers cannot be read: ") + error.what());
    }
}

}  // namespace roper
