#pragma once

#include <CLI/CLI.hpp>

namespace roper {

/// Accepts numbers within these bounds, but not nan or inf. CLI::Range accepts nan, since every comparison
/// with it is false.
CLI::Validator numberInRange(double low, double high);
CLI::Validator positiveNumber();

/// Restricts all integer options of a program and its commands to decimal 64-bit numbers, and negative ones
/// to options with a CLI::Range that begins below 0. By itself CLI11 clamps numbers that are too large, reads
/// 010 as 8, and -1 as the largest number of an unsigned type.
void requireWholeNumbers(CLI::App& app);

}  // namespace roper
