#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// −ln p by position, with unscaled frequencies and with several ways of scaling them.
struct LengthsAnswer {
    struct Variant {
        std::string scaling;      ///< one of `ScalingMethod`; "none": unscaled
        std::vector<double> nll;  ///< of the tokens at `positions`
    };
    double factor = 1;         ///< scaling factor of all variants but "none"
    std::int64_t trained = 0;  ///< training context length in tokens
    std::vector<Variant> variants;
    std::vector<std::int64_t> positions = {};  ///< of the predicted tokens, ascending
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LengthsAnswer::Variant, scaling, nll)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LengthsAnswer, factor, trained, variants, positions)

}  // namespace roper
