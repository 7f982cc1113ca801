#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/rotary/scaling.h"

namespace roper {

/// A selection of heads: one, all of a layer, or all of a model.
struct HeadSelection {
    std::optional<std::int64_t> layer = {};  ///< all if empty
    std::optional<std::int64_t> head = {};   ///< all of the layer if empty

    bool contains(std::int64_t of_layer, std::int64_t of_head) const {
        return (!layer || *layer == of_layer) && (!head || *head == of_head);
    }
    bool operator==(const HeadSelection&) const = default;
};

/// Changes to the computation of a model, to see their effect. The default changes nothing.
struct Intervention {
    /// Pairs ablated from the scores of some heads: only the other pairs are summed.
    struct AblatedPairs {
        HeadSelection heads;
        /// Pair 0 is the fastest; features that do not rotate belong to no pair.
        std::vector<std::int64_t> pairs;

        bool operator==(const AblatedPairs&) const = default;
    };
    std::vector<AblatedPairs> ablated_pairs;
    std::vector<HeadSelection> ablated_heads;  ///< ablated heads, whose output is zero
    std::vector<HeadSelection> unrotated;      ///< heads whose queries and keys are not rotated
    std::vector<HeadSelection>
        unrotated_value_heads;                    ///< RoPER heads whose values and outputs are not rotated
    std::vector<HeadSelection> uninverted_heads;  ///< RoPER heads whose outputs are not rotated back

    std::int64_t shift = 0;               ///< added to every position of the rotation
    std::optional<double> base = {};      ///< replaces the model's own in every layer
    std::optional<Scaling> scaling = {};  ///< replaces the model's own in every layer

    bool operator==(const Intervention&) const = default;
};

}  // namespace roper
