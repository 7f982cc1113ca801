#pragma once

#include <filesystem>
#include <optional>

namespace roper {

/// Bytes of memory that this program can still allocate: the free memory of the machine, or what the limits
/// of its control group or address space leave of it. Empty if the system does not report it.
std::optional<double> availableMemory();

/// Bytes free for this user on the disk of a folder, or of its nearest existing ancestor. Empty if the system
/// does not report it.
std::optional<double> availableDisk(const std::filesystem::path& folder);

}  // namespace roper
