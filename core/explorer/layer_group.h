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
    std::string model = {};  ///< display name
    std::string path = {};   ///< empty for a well-known model
    std::string family = {};
    std::string kind = {};         ///< as in the model's config.json, such as "full_attention"; often empty
    std::vector<int> layers = {};  ///< from 0; empty if unknown
    std::int64_t context = 0;      ///< context length in tokens; 0 if unknown
    std::optional<std::int64_t> window = {};  ///< tokens that a query sees, 0: all; empty if unknown
    int head_dim = 0;                         ///< features of a head
    std::vector<double> theta = {};           ///< frequency of each rotating pair, radians per position
    std::optional<bool> sinks = {};           ///< whether the softmax has learned sinks; empty if unknown
    bool values_rotate = false, values_rotate_back = false;
    /// Means over the heads on a text, as in `HeadReport`; empty without a text.
    std::optional<double> slow_share = {}, mean_distance = {};
    /// `mean_distance` if every query attended equally to all tokens that it sees.
    std::optional<double> even_distance = {};
    /// The rotation as settings of the explorer pages; empty if they cannot represent it, for the reason
    /// `problem`.
    std::vector<std::pair<std::string, std::string>> settings = {};
    std::string problem = {};
    std::vector<std::string> notes = {};  ///< for the user, on how the model was read
    std::string error = {};  ///< why the model cannot be read; only `model` and `path` are then set

    /// Number of pairs that complete no turn within the context length; empty if that is unknown.
    std::optional<std::int64_t> pairsThatNeverTurn() const;
    /// Sets `context`, `head_dim`, `theta` (for a text of that length), `settings` and `problem`.
    void setRotation(const RotaryConfig& rotation, std::int64_t context_length);
};

/// The groups of layers that a config.json describes, without windows and sinks.
/// @throws Error (usage) if nothing in it says that the model rotates
std::vector<LayerGroup> layerGroupsOf(const std::string& model, const ParsedRotation& rotation);

/// The members, and the number of rotating features ("rotated"), the largest and the smallest frequency, and
/// `pairsThatNeverTurn` ("never_turn"). Unknown members are null; without a text, its means are missing.
nlohmann::ordered_json toJson(const LayerGroup& group);
/// Reads what `toJson` writes, or {"model", "error"}. @throws Error (other) if a member is missing or wrong
LayerGroup parseLayerGroup(std::string_view json);

}  // namespace roper
