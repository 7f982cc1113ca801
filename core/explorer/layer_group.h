#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model_config/rotation_reading.h"

namespace roper {

/// Layers of a model with the same rotation and window: a row in a comparison of models.
struct LayerGroup {
    std::string model = {}, family = {};
    std::string kind = {};           ///< as in the model's config.json, such as "full_attention"; often empty
    std::vector<int> layers = {};    ///< from 0; empty if unknown
    std::int64_t context = 0;        ///< training context length in tokens; 0 if unknown
    std::int64_t window = 0;         ///< tokens that a query sees; 0: all, or unknown
    int head_dim = 0;                ///< features of a head
    std::vector<double> theta = {};  ///< frequency of each rotating pair, radians per position
    std::optional<bool> sinks = {};  ///< whether the softmax has learned sinks; empty if unknown
    bool values_rotate = false, values_rotate_back = false;
    /// Means over the heads on a text, as in `HeadReport`; empty without a text.
    std::optional<double> slow_share = {}, mean_distance = {};
    /// `mean_distance` if every query attended equally to all tokens that it sees.
    std::optional<double> even_distance = {};
    /// The rotation as settings of the explorer pages; empty if they cannot represent it.
    std::vector<std::pair<std::string, std::string>> settings = {};
    std::string error = {};  ///< why the model cannot be read; all members but `model` are then empty

    /// Number of pairs that complete no turn within the training context length; empty if that is unknown.
    std::optional<std::int64_t> pairsThatNeverTurn() const;
    /// Sets `context`, `head_dim`, `theta` and `settings`.
    void setRotation(const RotaryConfig& rotation, std::int64_t trained_length);
};

/// The groups of a model of which only the config.json is known.
std::vector<LayerGroup> layerGroupsOf(const std::string& model, const ParsedRotation& rotation);

/// The members, and the number of rotating features ("rotated"), the largest and the smallest frequency, and
/// `pairsThatNeverTurn` ("never_turn"). Unknown members are null, those of a text missing.
nlohmann::ordered_json toJson(const LayerGroup& group);
/// Reads what `toJson` writes, or {"model", "error"}. @throws Error (other) if a member is missing or wrong
LayerGroup parseLayerGroup(std::string_view json);

}  // namespace roper
