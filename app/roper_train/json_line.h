#pragma once

#include <iostream>
#include <nlohmann/json.hpp>

#include "core/reading/answer_writer.h"

namespace roper {

/// One JSON object per line on stdout, as answers are printed.
inline void print(const nlohmann::ordered_json& json) {
    AnswerWriter(std::cout, AnswerFormat::json).line(json);
}

}  // namespace roper
