#include "core/tokenizers/keyed_hash.h"

#include <random>

namespace roper {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61U) - 1;

/// A number below the prime, drawn once.
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

}  // namespace

/// The key's bytes as coefficients of a polynomial at the secret number, modulo a prime: two keys of n bytes
/// collide for at most n of its 2^61 values.
std::size_t KeyedHash::operator()(std::string_view key) const noexcept {
    const std::uint64_t base = secret();
    std::uint64_t hash = key.size();
    for (const char byte : key)
        hash = product(hash, base) + static_cast<unsigned char>(byte) + 1;
    return hash;
}

std::size_t KeyedHash::operator()(std::uint64_t key) const noexcept {
    constexpr std::uint64_t kHalf = 0xFFFFFFFF;
    return product(product(key >> 32U, secret()) + (key & kHalf), secret());
}

}  // namespace roper
