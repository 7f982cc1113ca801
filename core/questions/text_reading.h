#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// A candidate for the next token.
struct Prediction {
    std::int64_t id = 0;
    std::string token = {};  ///< its text
    double logit = 0, probability = 0;
};

/// Surprisals and predictions of a model on a text.
struct TextReading {
    std::vector<std::int64_t> ids;
    std::vector<std::string> tokens;  ///< their texts
    std::vector<double> nll;          ///< surprisal −ln p of every token except the first, in nats
    double loss = 0;                  ///< mean of `nll`
    std::vector<std::vector<Prediction>> predictions =
        {};  ///< candidates for every token's successor, the most likely first
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Prediction, id, token, logit, probability)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TextReading, ids, tokens, nll, loss, predictions)

}  // namespace roper
