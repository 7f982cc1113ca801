#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/runs/rows.h"
#include "core/specification/specification.h"

namespace roper {

/// Scalars of one step, as TensorBoard reads them.
struct ScalarEvent {
    double wall_time = 0;  ///< seconds since 1970, UTC
    std::int64_t step = 0;
    std::vector<std::pair<std::string, double>> scalars;  ///< tag and value; written as 32 bits
};

/// The records that an event file of ours begins with: its version ("brain.Event:2"), the start of a session,
/// and the settings that the run reads, as hyperparameters for the HParams table and as a text.
std::string formatEventFileStart(double wall_time, const Specification& specification);

/// A record: u64 length, masked CRC-32C of it, a protobuf `Event`, masked CRC-32C of that.
std::string formatEvent(const ScalarEvent& event);

/// A record that says that a session of training begins with this step: what the file holds of it and later
/// ones no longer counts. TensorBoard drops it, and follows the file, which only grows. It takes no notice of
/// the first such record of a file (2.18).
std::string formatSessionStart(double wall_time, std::int64_t step);

/// What an event file holds.
struct EventFile {
    std::vector<ScalarEvent> events;     ///< of all records that can be read and that count
    std::optional<std::size_t> damaged;  ///< where the first record begins that cannot; none at a torn end
    std::size_t whole = 0;               ///< bytes before a torn end
    int sessions = 0;  ///< how often it says that a session begins; 0 in those of older versions
};

/// Reads a file of events. A record whose content is damaged is passed over; where the frame of one is, the
/// next that is whole is looked for. Events that a later session has computed again are left out.
EventFile parseEvents(std::string_view file);

/// The same, one event after the other. Scalars may be written in either of TensorBoard's ways: as a simple
/// value, or as a tensor without dimensions.
/// @returns where the first damaged record begins
std::optional<std::size_t> forEachEvent(std::string_view file,
                                        const std::function<void(ScalarEvent&&)>& take);

/// Whether a file that begins so is one of events.
bool isEventFile(std::string_view beginning);

/// The event that a row is for TensorBoard, with the present time.
ScalarEvent eventOf(const MetricsRow& row);
ScalarEvent eventOf(const EvaluationRow& row);

/// CRC-32C (Castagnoli, RFC 3720).
std::uint32_t crc32c(std::string_view bytes);

}  // namespace roper
