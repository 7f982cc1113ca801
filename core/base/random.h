#pragma once

#include <array>
#include <cstdint>

namespace roper {

/// What a stream of problems is for. Streams of one seed never share a generator.
enum class Stream : std::uint64_t {
    training = 0,
    problems = 1,          ///< problems that an evaluation asks
    validation = 2,        ///< sequences that an evaluation takes the loss of
    sizes = 3,             ///< problems of one size, for accuracy by size
    sampling = 4,          ///< what a model writes at a temperature
    training_masks = 5,    ///< which tokens of training sequences are masked
    validation_masks = 6,  ///< which tokens of validation sequences are
    dropout = 7,           ///< seeds of dropout, where several processes train together
};

/// A small generator whose numbers are the same on every machine: xoshiro256** (Blackman & Vigna 2018), its
/// state filled by SplitMix64 from (seed, stream, index). Item `index` of a stream is reached at once, so a
/// stream can be resumed at any point.
class Random {
  public:
    Random(std::uint64_t seed, Stream stream, std::uint64_t index);

    std::uint64_t next();

    /// A whole number from low to high, both included, each as likely (Lemire's method with rejection).
    std::int64_t between(std::int64_t low, std::int64_t high);

    /// Even over [0, 1), in steps of 2⁻⁵³.
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  private:
    std::array<std::uint64_t, 4> state_;
};

}  // namespace roper
