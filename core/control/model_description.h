#pragma once

#include <map>
#include <string>

#include "core/base/safetensors.h"
#include "core/methods/position_method.h"
#include "core/rotary/attention_kind.h"

namespace roper {

/// Description of the model in the metadata of answers about heads and maps (docs/control-socket.md).
struct ModelDescription {
    std::int64_t step = -1;  ///< of a run's checkpoint; −1 for a published model
    std::string position = "none";
    AttentionKind attention = AttentionKind::softmax;
    bool causal = true;
    RotaryConfig rotation;  ///< of queries and keys, without scaling
    double value_rotary_fraction = 1;
    int layers = 0, heads = 0;

    std::map<std::string, std::string> toMetadata() const;
    /// @throws Error (checkpoint) for an entry that is missing or invalid in this version
    static ModelDescription fromFile(const SafetensorsFile& file);
};

}  // namespace roper
