#include "core/base/cryptography.h"

#include <sodium.h>

#include <array>
#include <span>

#include "core/base/error.h"

namespace roper {
namespace {

const unsigned char* unsignedBytes(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

/// Must be called once before any other function of libsodium.
void prepareSodium() {
    static const bool is_ready = sodium_init() >= 0;
    if (!is_ready) throw Error(ErrorKind::other, "libsodium found no source of random numbers");
}

std::string hexadecimal(std::span<const unsigned char> bytes) {
    std::string digits(2 * bytes.size() + 1, '\0');
    sodium_bin2hex(digits.data(), digits.size(), bytes.data(), bytes.size());
    digits.pop_back();
    return digits;
}

}  // namespace

std::string sha256(std::string_view bytes) {
    prepareSodium();
    std::array<unsigned char, crypto_hash_sha256_BYTES> hash;
    crypto_hash_sha256(hash.data(), unsignedBytes(bytes), bytes.size());
    return hexadecimal(hash);
}

std::string randomKey() {
    prepareSodium();
    std::array<unsigned char, crypto_auth_KEYBYTES> key;
    randombytes_buf(key.data(), key.size());
    return hexadecimal(key);
}

std::string authenticationCode(std::string_view key, std::string_view bytes) {
    prepareSodium();
    std::array<unsigned char, crypto_hash_sha256_BYTES> fitted;
    static_assert(fitted.size() == crypto_auth_KEYBYTES);
    crypto_hash_sha256(fitted.data(), unsignedBytes(key), key.size());
    std::array<unsigned char, crypto_auth_BYTES> code;
    crypto_auth(code.data(), unsignedBytes(bytes), bytes.size(), fitted.data());
    return {code.begin(), code.end()};
}

bool isAuthentic(std::string_view key, std::string_view bytes, std::string_view code) {
    const std::string right = authenticationCode(key, bytes);
    return code.size() == right.size() && sodium_memcmp(code.data(), right.data(), right.size()) == 0;
}

}  // namespace roper
