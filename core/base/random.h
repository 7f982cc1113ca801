#pragma once

#include <array>
#include <cstdint>

namespace roper {

/// Purpose of a random stream. Streams with the same seed never share a generator.
enum class Stream : std::uint64_t {
    training = 0,          ///< training sequences
    problems = 1,          ///< problems of an evaluation
    validation = 2,        ///< validation sequences for the loss
    sizes = 3,             ///< problems of one size, for accuracy by size
    sampling = 4,          ///< sampling from a model at a temperature
    training_masks = 5,    ///< masked tokens of training sequences
    validation_masks = 6,  ///< masked tokens of validation sequences
    dropout = 7,           ///< seeds of dropout in data-parallel training
};

/// A small generator with the same numbers on every machine: xoshiro256** (Blackman & Vigna 2018), with its
/// state filled by SplitMix64 from (seed, stream, index). Any item `index` of a stream is reached directly,
/// so a stream can be resumed at any point.
class Random {
  public:
    Random(std::uint64_t seed, Stream stream, std::uint64_t index);

    std::uint64_t next();

    /// A uniform integer from low to high, both included (Lemire's method with rejection).
    std::int64_t between(std::int64_t low, std::int64_t high);

    /// Uniform over [0, 1), a multiple of 2⁻⁵³.
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  private:
    std::array<std::uint64_t, 4> state_;
};

}  // namespace roper
