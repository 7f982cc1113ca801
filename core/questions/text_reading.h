#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// A token that may come next.
struct Prediction {
    std::int64_t id = 0;
    std::string token = {};  ///< its text
    double logit = 0, probability = 0;
};

/// How a model reads a text.
struct TextReading {
    std::vector<std::int64_t> ids;
    std::vector<std::string> tokens;  ///< their texts
    std::vector<double> nll;          ///< −ln p of every token but the first, in nats
    double loss = 0;                  ///< their mean
    std::vector<std::vector<Prediction>> predictions =
        {};  ///< of every token's successor, the likeliest first
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Prediction, id, token, logit, probability)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TextReading, ids, tokens, nll, loss, predictions)

}  // namespace roper
