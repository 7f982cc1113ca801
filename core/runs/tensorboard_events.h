#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roper {

/// Scalars of one step, as TensorBoard reads them.
struct ScalarEvent {
    double wall_time = 0;  ///< seconds since 1970, UTC
    std::int64_t step = 0;
    std::vector<std::pair<std::string, float>> scalars;  ///< tag and value
};

/// The record that every event file begins with ("brain.Event:2").
std::string formatEventFileStart(double wall_time);

/// A record: u64 length, masked CRC-32C of it, a protobuf `Event`, masked CRC-32C of that.
std::string formatEvent(const ScalarEvent& event);

/// The scalar events of a file up to the first record that is torn or damaged.
std::vector<ScalarEvent> parseEvents(std::string_view file);

/// CRC-32C (Castagnoli, RFC 3720).
std::uint32_t crc32c(std::string_view bytes);

}  // namespace roper
