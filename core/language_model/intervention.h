#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/rotary/scaling.h"

namespace roper {

/// Some heads: one, those of a layer, or all of a model.
struct HeadChoice {
    std::optional<std::int64_t> layer = {};  ///< all if not given
    std::optional<std::int64_t> head = {};   ///< all of the layer if not given

    bool holds(std::int64_t of_layer, std::int64_t of_head) const {
        return (!layer || *layer == of_layer) && (!head || *head == of_head);
    }
    bool operator==(const HeadChoice&) const = default;
};

/// What is done to a model while it reads, to see what that breaks. By itself it changes nothing.
struct Intervention {
    /// Pairs that are left out of the scores of some heads: Σ over the other pairs alone.
    struct MutedPairs {
        HeadChoice heads;
        std::vector<std::int64_t> pairs;  ///< the fastest is 0; features that do not rotate are no pair

        bool operator==(const MutedPairs&) const = default;
    };
    std::vector<MutedPairs> muted_pairs;
    std::vector<HeadChoice> muted_heads;       ///< heads that add nothing
    std::vector<HeadChoice> unrotated;         ///< heads whose queries and keys are not rotated
    std::vector<HeadChoice> unrotated_values;  ///< heads of RoPER whose values, and outputs, are not
    std::vector<HeadChoice>
        not_rotated_back;  ///< heads of RoPER whose outputs keep the rotation by their keys' positions

    std::int64_t shift = 0;           ///< S, added to every position of the rotation
    std::optional<double> base = {};  ///< in place of the model's own, in every layer
    std::optional<Scaling> scaling = {};

    bool operator==(const Intervention&) const = default;
};

}  // namespace roper
