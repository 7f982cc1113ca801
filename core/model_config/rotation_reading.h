#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/model_config/config_fields.h"
#include "core/rotary/rotary_config.h"

namespace roper {

/// Name of the layers that do not rotate while others do.
inline constexpr const char* kNotRotated = "not rotated";

/// A group of layers that rotate alike.
struct RotatedLayers {
    std::string kind;         ///< as in the config, such as "full_attention"; empty if all layers are alike
    std::vector<int> layers;  ///< from 0
    RotaryConfig rotary;      ///< unused if the layers do not rotate
};

/// How values are treated.
enum class ValueRotation {
    none,
    rotated,  ///< by the positions of their tokens; outputs are not rotated back (RoFormer's rotary_value)
    rotated_back,  ///< outputs are also rotated back by the query's position (RoPER)
};

/// How the model of a config.json rotates, and notes for the user about how it was read.
struct ParsedRotation {
    std::string model_type;             ///< of the language part; empty if the config names none
    std::vector<RotatedLayers> layers;  ///< at least one for each kind of layer, full attention first
    ValueRotation values = ValueRotation::none;
    bool has_shared_key_value = false;  ///< each token has one vector that is key and value for all heads
    double positions = 0;               ///< max_position_embeddings, 0 if missing
    /// Features of a head that latent attention keeps unrotated, besides `RotaryConfig::head_dim`
    /// (qk_nope_head_dim).
    int unrotated_features = 0;
    /// Whether nothing in the config says that the model rotates: its type is unknown, and it has no rotary
    /// member.
    bool is_assumed = false;
    std::vector<std::string> notes;
};

/// Reads a config.json as transformers 5.24 does, according to its model type (`findModelType`). Handles
/// composite models (text_config and the like), and rope_parameters and rope_scaling, flat or by kind of
/// layer. Defaults are those of the model type's class. The notes name members about rotation that have
/// no effect.
/// @throws Error (usage) naming the member, what is wrong with it, and what is accepted
ParsedRotation readRotation(std::string_view json);
/// The same for a file. @throws Error (usage) that also names the file; (disk) if it cannot be read
ParsedRotation readRotationFile(const std::filesystem::path& path);
/// The same for a config shared with another reader; members read by either count as read.
ParsedRotation readRotation(const ConfigFields& config);

}  // namespace roper
