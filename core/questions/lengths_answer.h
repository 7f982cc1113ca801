#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// −ln p by position, with frequencies as they are and scaled in several ways.
struct LengthsAnswer {
    struct Variant {
        std::string scaling;      ///< one of `scalingNames`; "none": as they are
        std::vector<double> nll;  ///< of every token but the first
    };
    double factor = 1;         ///< of the scaled ones
    std::int64_t trained = 0;  ///< tokens of the texts that it was trained on
    std::vector<Variant> variants;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LengthsAnswer::Variant, scaling, nll)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LengthsAnswer, factor, trained, variants)

}  // namespace roper
