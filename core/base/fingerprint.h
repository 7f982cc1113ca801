#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace roper {

/// A hash of bytes that is the same on every machine: 64-bit FNV-1a. It distinguishes contents, but is no
/// protection against attackers.
class Fingerprint {
  public:
    /// @param seed  selects a different hash of the same bytes
    explicit Fingerprint(std::uint64_t seed = 0) : value_(14695981039346656037U ^ seed) {}

    Fingerprint& add(std::string_view bytes) {
        for (const char byte : bytes)
            value_ = (value_ ^ static_cast<unsigned char>(byte)) * 1099511628211U;
        return *this;
    }

    /// Adds eight bytes at a time (little-endian), and the remainder one by one. Several times faster than
    /// `add`; the value differs.
    Fingerprint& addWords(std::span<const std::byte> bytes) {
        while (bytes.size() >= sizeof(std::uint64_t)) {
            std::uint64_t word;
            std::memcpy(&word, bytes.data(), sizeof word);
            value_ = (value_ ^ word) * 1099511628211U;
            value_ ^= value_ >> 32U;  // multiplication propagates bits only upwards
            bytes = bytes.subspan(sizeof word);
        }
        for (const std::byte byte : bytes)
            value_ = (value_ ^ static_cast<unsigned char>(byte)) * 1099511628211U;
        return *this;
    }

    std::uint64_t value() const { return value_; }

    /// The value as sixteen hexadecimal digits.
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
