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

/// Scalars of one step, for TensorBoard.
struct ScalarEvent {
    double wall_time = 0;  ///< seconds since 1970, UTC
    std::int64_t step = 0;
    std::vector<std::pair<std::string, double>> scalars;  ///< tag and value; written as float32
};

/// The first records of an event file: version ("brain.Event:2"), the start of a session, and the settings
/// that the run reads, as hyperparameters for the HParams table and as a text.
std::string formatEventFileStart(double wall_time, const Specification& specification);

/// A record: u64 length, masked CRC-32C of it, a protobuf `Event`, masked CRC-32C of that.
std::string formatEvent(const ScalarEvent& event);

/// A record that marks the start of a training session at this step: earlier events of this and later steps
/// are obsolete. TensorBoard drops them; the file itself only grows. TensorBoard 2.18 ignores the first such
/// record of a file.
std::string formatSessionStart(double wall_time, std::int64_t step);

/// The content of an event file.
struct EventFile {
    std::vector<ScalarEvent> events;  ///< of all readable records that are not obsolete
    /// offset of the first damaged record; a truncated end does not count
    std::optional<std::size_t> damaged;
    std::size_t complete_bytes = 0;  ///< bytes before a truncated end
    int sessions = 0;                ///< number of session starts; 0 in files of older versions
};

/// Reads an event file. Records with damaged content are skipped; after a damaged frame, reading continues at
/// the next valid record. Events recomputed by a later session are omitted.
EventFile parseEvents(std::string_view file);

/// Reads an event file one event at a time, including obsolete events. A scalar may be stored in both ways
/// that TensorBoard knows: as a simple value, or as a tensor without dimensions.
/// @returns the offset of the first damaged record; empty if none is damaged
std::optional<std::size_t> forEachEvent(std::string_view file,
                                        const std::function<void(ScalarEvent&&)>& take);

/// Whether the beginning of a file is that of an event file.
bool isEventFile(std::string_view beginning);

/// A row as an event with the current time.
ScalarEvent eventOf(const MetricsRow& row);
ScalarEvent eventOf(const EvaluationRow& row);

/// CRC-32C (Castagnoli, RFC 3720).
std::uint32_t crc32c(std::string_view bytes);

}  // namespace roper
