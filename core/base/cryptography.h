#pragma once

#include <string>
#include <string_view>

namespace roper {

// Protection against attackers, based on libsodium. `Fingerprint` only detects accidental changes.

/// SHA-256 of these bytes as 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

/// A new random key: 64 hexadecimal digits.
std::string randomKey();

/// Authentication code of these bytes: HMAC-SHA-512 truncated to 256 bits, 32 bytes.
/// @param key  from `randomKey`; a key of another length is hashed to fit
std::string authenticationCode(std::string_view key, std::string_view bytes);

/// Whether this is the authentication code of these bytes, compared in constant time.
bool isAuthentic(std::string_view key, std::string_view bytes, std::string_view code);

}  // namespace roper
