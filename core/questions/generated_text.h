#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// A continuation of a prompt.
struct GeneratedText {
    std::vector<std::int64_t> ids;        ///< of the prompt
    std::vector<std::int64_t> generated;  ///< ids of the continuation
    std::vector<std::string> tokens;      ///< texts of all tokens, prompt and continuation
    std::vector<double> probability;      ///< of each generated token
    std::string text;                     ///< the continuation
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GeneratedText, ids, generated, tokens, probability, text)

}  // namespace roper
