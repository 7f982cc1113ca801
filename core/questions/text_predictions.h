#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// A candidate for a predicted token.
struct Prediction {
    std::int64_t id = 0;
    std::string token = {};  ///< its text
    double logit = 0, probability = 0;
};

/// Surprisals and predictions of a model on a text.
struct TextPredictions {
    std::vector<std::int64_t> ids;
    std::vector<std::string> tokens;  ///< their texts
    /// Surprisal −ln p of the tokens at `positions`, in nats.
    std::vector<double> nll;
    double loss = 0;  ///< mean of `nll`
    /// Candidates for every token's successor or, if `masked`, for the tokens at `positions`; the most likely
    /// first.
    std::vector<std::vector<Prediction>> predictions = {};
    /// Positions of the predicted tokens, ascending: all but the first or, if `masked`, all but mask tokens
    /// and the special tokens around the text.
    std::vector<std::int64_t> positions = {};
    bool masked = false;  ///< each token was masked in turn and predicted from all others

    /// The index in `nll` of the token at a position; nothing if it is not predicted.
    std::optional<std::size_t> indexOf(std::size_t token) const {
        const auto at =
            std::lower_bound(positions.begin(), positions.end(), static_cast<std::int64_t>(token));
        if (at == positions.end() || *at != static_cast<std::int64_t>(token)) return std::nullopt;
        return static_cast<std::size_t>(at - positions.begin());
    }
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Prediction, id, token, logit, probability)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TextPredictions, ids, tokens, nll, loss, predictions, positions, masked)

}  // namespace roper
