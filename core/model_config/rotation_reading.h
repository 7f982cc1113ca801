#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model_config/config_fields.h"
#include "core/rotary/rotary_config.h"

namespace roper {

/// The name of layers that do not rotate, where others do.
inline constexpr const char* kNotRotated = "not rotated";

/// Layers that rotate alike.
struct RotatedLayers {
    std::string kind;         ///< as the config has it: "full_attention"; empty where all are alike
    std::vector<int> layers;  ///< from 0
    RotaryConfig rotary;      ///< nothing of it where the layers do not
};

/// What becomes of values.
enum class ValueRotation {
    none,
    rotated,       ///< by the positions of their tokens, and never back (RoFormer's rotary_value)
    rotated_back,  ///< and outputs back by the query's position: RoPER
};

/// How the model of a config.json rotates, and what a person should know about how that was read.
struct RotationReading {
    std::string model_type;             ///< of the part that reads text; empty where the config names none
    std::vector<RotatedLayers> layers;  ///< one for each kind of layer at least, the global ones first
    ValueRotation values = ValueRotation::none;
    double positions = 0;  ///< max_position_embeddings, 0 where missing
    std::vector<std::string> notes;
};

/// Reads a config.json as transformers 5.24 does, by what is known of its model type (`modelTypeNamed`): also
/// inside text_config and the like, rope_parameters and rope_scaling, flat or by kind of layer. What a config
/// does not say is as in the class of its model type. Members about rotation that change nothing there are
/// named in the notes.
/// @throws Error (usage) naming the member, what is wrong with it, and what is accepted
RotationReading readRotation(std::string_view json);
/// The same of a config that is read otherwise, too: what both read counts as read.
RotationReading readRotation(const ConfigFields& config);

}  // namespace roper
