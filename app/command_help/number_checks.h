#pragma once

#include <CLI/CLI.hpp>

namespace roper {

/// Accepts numbers within these bounds, but not nan or inf. CLI::Range accepts nan, since every comparison
/// with it is false.
CLI::Validator numberInRange(double low, double high);
CLI::Validator positiveNumber();

/// Makes all integer options of a program and its commands accept only decimal 64-bit numbers; negative ones
/// only if the option has a CLI::Range that begins below 0. CLI11 by itself clamps numbers that are too
/// large, reads 010 as 8, and -1 as the largest number of an unsigned type.
void requireWholeNumbers(CLI::App& app);

}  // namespace roper
