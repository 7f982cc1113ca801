#pragma once

#include <map>
#include <string>

#include "core/base/safetensors.h"
#include "core/methods/position_method.h"
#include "core/rotary/attention_kind.h"

namespace roper {

/// What the answers about heads and maps (docs/control-socket.md) say of the model, in their metadata.
struct ModelDescription {
    std::int64_t step = -1;  ///< of a run; a published model has none
    std::string position = "none";
    AttentionKind attention = AttentionKind::softmax;
    bool causal = true;
    RotaryConfig rotation;  ///< of queries and keys, without scaling
    double value_rotary_fraction = 1;
    int layers = 0, heads = 0;

    std::map<std::string, std::string> asMetadata() const;
    /// @throws Error (checkpoint) for an entry that is missing or says what no model of this version is
    static ModelDescription of(const SafetensorsFile& file);
};

}  // namespace roper
