#include "core/tokenizers/keyed_hash.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace roper {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61U) - 1;

/// A random number from 256 to the prime, drawn once; powers of a smaller one would not mix the bytes.
std::uint64_t secret() {
    static const std::uint64_t drawn = [] {
        std::random_device device;
        return ((std::uint64_t{device()} << 32U) | device()) % (kPrime - 256) + 256;
    }();
    return drawn;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
    const Wide wide = Wide{a} * b;
    const std::uint64_t sum =
        static_cast<std::uint64_t>(wide & kPrime) + static_cast<std::uint64_t>(wide >> 61U);
    return sum >= kPrime ? sum - kPrime : sum;
}

/// Spreads a hash over all bits (the last step of MurmurHash3, Appleby 2011). Without it, equally spaced
/// numbers have equally spaced hashes, and for some secrets dozens of them share a bucket.
std::uint64_t spread(std::uint64_t hash) {
    hash = (hash ^ (hash >> 33U)) * 0xFF51AFD7ED558CCDU;
    hash = (hash ^ (hash >> 33U)) * 0xC4CEB9FE1A85EC53U;
    return hash ^ (hash >> 33U);
}

}  // namespace

/// Evaluates a polynomial modulo a prime at the secret number. Its coefficients are the key's length and the
/// key's bytes, seven at a time: two keys of n bytes collide for at most n / 7 + 1 of the 2^61 secrets.
std::size_t KeyedHash::operator()(std::string_view key) const noexcept {
    constexpr std::size_t kBytes = 7;
    const std::uint64_t base = secret();
    std::uint64_t hash = key.size();
    for (; !key.empty(); key.remove_prefix(std::min(kBytes, key.size()))) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, key.data(), std::min(kBytes, key.size()));
        hash = product(hash, base) + bytes;
    }
    return spread(hash);
}

std::size_t KeyedHash::operator()(std::uint64_t key) const noexcept {
    constexpr std::uint64_t kHalf = 0xFFFFFFFF;
    return spread(product(product(key >> 32U, secret()) + (key & kHalf), secret()));
}

}  // namespace roper
