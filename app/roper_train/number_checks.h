#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/text.h"

namespace roper {

/// Accepts numbers within these bounds, and neither nan nor inf, which CLI::Range lets through: every
/// comparison with nan is false.
inline CLI::Validator finiteNumber(double low, double high, const std::string& description) {
    return {[low, high, description](std::string& text) {
                const auto number = parseNumber(text);
                const bool is_right = number && std::isfinite(*number) && *number >= low && *number <= high;
                return is_right ? std::string() : "\"" + onOneLine(text) + "\" is no " + description;
            },
            "FLOAT"};
}

inline CLI::Validator numberFrom(double low, double high) {
    return finiteNumber(low, high, "number from " + formatNumber(low) + " to " + formatNumber(high));
}

inline CLI::Validator positiveNumber() {
    return finiteNumber(std::numeric_limits<double>::min(), std::numeric_limits<double>::max(),
                        "number above 0");
}

}  // namespace roper
