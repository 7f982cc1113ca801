#include "core/base/random.h"

#include <bit>

namespace roper {
namespace {

/// SplitMix64 (Steele, Lea & Flood 2014): advances the state and returns the next number.
std::uint64_t splitMix(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed, Stream stream, std::uint64_t index) {
    std::uint64_t mix = seed;
    // Each part is mixed before the next is added, so that neighboring seeds and indices do not lead to the
    // same state.
    mix = splitMix(mix) ^ static_cast<std::uint64_t>(stream);
    mix = splitMix(mix) ^ index;
    for (auto& word : state_)
        word = splitMix(mix);
}

std::uint64_t Random::next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
    __extension__ using Wide = unsigned __int128;
    const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    if (range == 0) return static_cast<std::int64_t>(next());
    Wide product = static_cast<Wide>(next()) * range;
    const std::uint64_t threshold = (0 - range) % range;
    while (static_cast<std::uint64_t>(product) < threshold)
        product = static_cast<Wide>(next()) * range;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) +
                                     static_cast<std::uint64_t>(product >> 64));
}

}  // namespace roper
