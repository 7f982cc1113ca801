#pragma once

#include <string>
#include <string_view>

namespace roper {

// What protects against people rather than against accidents, which `Fingerprint` is for. From libsodium.

/// SHA-256 of these bytes as 64 hexadecimal digits. Nobody can find other bytes that have the same.
std::string sha256(std::string_view bytes);

/// A new key that nobody can guess: 64 hexadecimal digits.
std::string randomKey();

/// What only somebody who has the key can compute for these bytes: HMAC-SHA-512 cut to 256 bits, 32 bytes.
/// @param key  from `randomKey`; another length is hashed to fit
std::string authenticationCode(std::string_view key, std::string_view bytes);

/// Whether this is the code of these bytes, found out in a time that tells nothing about the right code.
bool isAuthentic(std::string_view key, std::string_view bytes, std::string_view code);

}  // namespace roper
