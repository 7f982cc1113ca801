#pragma once

#include <CLI/CLI.hpp>

namespace roper {

/// Accepts numbers within these bounds, and neither nan nor inf, which CLI::Range lets through: every
/// comparison with nan is false.
CLI::Validator numberFrom(double low, double high);
CLI::Validator positiveNumber();

/// Makes every option of a program and its commands that takes a whole number take decimal ones of 64 bits
/// alone, and negative ones only where a CLI::Range begins below 0. CLI11 by itself takes the nearest number
/// for one that is too large, 8 for 010, and for -1 the largest where the number has no sign.
void requireWholeNumbers(CLI::App& app);

}  // namespace roper
