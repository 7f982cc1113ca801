#pragma once

#include <filesystem>
#include <optional>

namespace roper {

/// Bytes of memory that this program may still take: what is free on this machine, or what its control group
/// or its limit of address space leaves of that. Nothing if the system does not say.
std::optional<double> availableMemory();

/// Bytes that are free for this user on the disk of a folder, or of the nearest one above it that is there.
/// Nothing if the system does not say.
std::optional<double> availableDisk(const std::filesystem::path& folder);

}  // namespace roper
