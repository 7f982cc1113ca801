#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace roper {

/// A number that follows from bytes alone and is the same on every machine: FNV-1a of 64 bits. Tells contents
/// apart; it does not protect against anybody.
class Fingerprint {
  public:
    /// @param seed  others for the same bytes
    explicit Fingerprint(std::uint64_t seed = 0) : value_(14695981039346656037U ^ seed) {}

    Fingerprint& add(std::string_view bytes) {
        for (const char byte : bytes)
            value_ = (value_ ^ static_cast<unsigned char>(byte)) * 1099511628211U;
        return *this;
    }

    std::uint64_t value() const { return value_; }

    /// The value in sixteen hexadecimal digits.
    std::string text() const {
        std::string digits;
        for (int shift = 60; shift >= 0; shift -= 4)
            digits += "0123456789abcdef"[value_ >> shift & 15U];
        return digits;
    }

  private:
    std::uint64_t value_;
};

}  // namespace roper
