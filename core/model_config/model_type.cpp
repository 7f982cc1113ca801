#include "core/model_config/model_type.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

namespace roper {
namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

/// Names of model types, and what each reads, as JSON.
constexpr std::pair<const char*, const char*> kRows[] = {
#include "core/model_config/model_types.inc"
};

RotatingLayers rotatingOf(const std::string& name) {
    return name == "sliding"             ? RotatingLayers::sliding
           : name == "sliding_or_dense"  ? RotatingLayers::sliding_or_dense
           : name == "sliding_if_window" ? RotatingLayers::sliding_if_window
           : name == "no_rope_layers"    ? RotatingLayers::listed
                                         : RotatingLayers::all;
}

ModelType::Kind kindOf(const std::string& name, const Json& row) {
    ModelType::Kind kind{.name = name,
                         .theta = row.at("theta").get<double>(),
                         .theta_keys = row.at("keys").get<Names>(),
                         .features = row.value("features", 0),
                         .width_keys = row.value("width", Names()),
                         .is_scaled = row.value("scaled", true),
                         .theta_keys_with_rope_parameters = row.value("given_keys", Names())};
    if (row.contains("share")) kind.rotary_fraction = row.at("share").get<double>();
    if (row.contains("less")) row.at("less").get_to(kind.width_difference);
    return kind;
}

ModelType typeOf(const std::string& name, const Json& row) {
    ModelType type;
    type.name = name;
    const auto read = [&](const char* key, auto& member) {
        if (row.contains(key)) row.at(key).get_to(member);
    };
    read("interleaved", type.interleaved);
    read("interleave_key", type.interleave_key);
    read("width", type.width_keys);
    read("wider", type.head_width_factor);
    if (row.contains("kinds"))
        for (const auto& [kind, of_kind] : row.at("kinds").items())
            type.kinds.push_back(kindOf(kind, of_kind));
    read("nested", type.is_nested);
    type.needs_theta = type.is_nested && !row.value("bare", true);
    read("flat", type.accepts_flat_parameters);
    if (row.contains("partial")) {
        const Json& partial = row.at("partial");
        type.reads_rotary_fraction = partial.value("inside", true);
        type.rotary_fraction = partial.value("share", 1.0);
        type.rotary_fraction_keys = partial.value("keys", Names());
    }
    if (row.contains("rope")) type.rope = ConfigFields::parse(row.at("rope").dump());
    type.refuses_scaling = !row.value("refuses", Names()).empty();
    if (row.contains("sizes")) type.sizes = ConfigFields::parse(row.at("sizes").dump());
    read("names", type.names);
    read("layer_types", type.layer_types);
    if (row.contains("layers")) {
        if (row.at("layers").is_string())
            type.layers = {""};  // no layer rotates
        else
            row.at("layers").get_to(type.layers);
    }
    read("pattern", type.reads_pattern);
    read("fixed", type.is_fixed);
    read("ends", type.last_layer);
    read("forces", type.forces_last);
    read("by_layer", type.per_layer_keys);
    read("copies", type.copies_flat);
    if (row.contains("beside")) {
        row.at("beside").at(0).get_to(type.unrotated_features_key);
        row.at("beside").at(1).get_to(type.unrotated_features);
    }
    type.rotating = rotatingOf(row.value("rotating", ""));
    if (row.contains("values"))
        type.values = row.at("values").is_string() ? row.at("values") : Json("rotated");
    read("shared", type.has_shared_key_value);
    read("last", type.rotates_last);
    read("theta_first", type.theta_keys_take_precedence);
    read("share_first", type.rotary_fraction_keys_take_precedence);
    read("values_key", type.values_key);
    if (row.contains("features")) {
        if (row.at("features").is_string())
            type.features_key = row.at("features");
        else
            type.features = row.at("features");
    }
    read("even", type.requires_even_features);
    read("ratio", type.ratio_key);
    read("flat_scales", type.flat_means_scaling);
    read("yarn_factor", type.yarn_factor);
    read("alpha", type.reads_alpha);
    read("mscales", type.reads_mscales);
    read("yarn_is_longrope", type.yarn_means_longrope);
    if (row.contains("needs")) {
        type.required_key = row.at("needs").at(0);
        type.required_value = row.at("needs").at(1).dump();
    }
    read("null_theta", type.null_theta_means_unrotated);
    read("text", type.language_model_type);
    return type;
}

/// Reads what most types do; for types whose code is not part of transformers.
ModelType defaultType() {
    ModelType type;
    type.width_keys = {"head_dim", "qk_rope_head_dim"};
    type.kinds = {
        {.name = "", .theta_keys = {"rope_theta", "rotary_emb_base", "global_rope_theta"}, .width_keys = {}}};
    type.rotary_fraction_keys = {"partial_rotary_factor", "rotary_pct", "rotary_dim"};
    type.names = {{"hidden_size", "n_embd"},
                  {"num_attention_heads", "n_head"},
                  {"max_position_embeddings", "n_positions"},
                  {"num_hidden_layers", "n_layer"}};
    type.interleave_key = "rope_interleave";
    type.reads_pattern = true;
    type.is_known = false;
    return type;
}

}  // namespace

std::optional<ConfigFields> ropeParametersOf(const ConfigFields& config, const ModelType& type) {
    for (const char* const key : {"rope_scaling", "rope_parameters"})
        if (const auto given = config.object(key); given && !given->isEmpty()) return given;
    return type.rope ? std::optional(type.rope->unreadCopy()) : std::nullopt;
}

const ModelType& findModelType(const std::string& name) {
    static const ModelType usual = defaultType();
    const auto row =
        std::find_if(std::begin(kRows), std::end(kRows), [&](const auto& one) { return one.first == name; });
    if (row == std::end(kRows)) return usual;
    // Types are parsed when first used: parsing all would delay the window's first frame.
    static std::mutex mutex;
    static std::map<std::string, ModelType> read;
    const std::lock_guard lock(mutex);
    auto found = read.find(name);
    if (found == read.end()) found = read.emplace(name, typeOf(name, Json::parse(row->second))).first;
    return found->second;
}

}  // namespace roper
