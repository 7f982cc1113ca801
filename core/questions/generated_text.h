#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// What a model writes after a text.
struct GeneratedText {
    std::vector<std::int64_t> ids, generated;
    std::vector<std::string> tokens;  ///< of both
    std::vector<double> probability;  ///< of each generated token
    std::string text;                 ///< what was generated
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GeneratedText, ids, generated, tokens, probability, text)

}  // namespace roper
