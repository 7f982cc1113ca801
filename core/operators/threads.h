#pragma once

#include <cstdint>
#include <string>

namespace roper {

/// Sets the number of CPU threads, at most four for each core; 0 takes one per core.
/// @return  what a person should know if that is fewer than were asked for; empty otherwise
/// @throws std::system_error where so many cannot be started
std::string setThreads(std::int64_t threads);

}  // namespace roper
