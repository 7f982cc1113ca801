#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// A continuation of a prompt.
struct GeneratedText {
    std::vector<std::int64_t> ids, generated;
    std::vector<std::string> tokens;  ///< of the prompt and the continuation
    std::vector<double> probability;  ///< of each generated token
    std::string text;                 ///< the continuation
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GeneratedText, ids, generated, tokens, probability, text)

}  // namespace roper
