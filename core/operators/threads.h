#pragma once

#include <cstdint>
#include <string>

namespace roper {

/// Sets the number of CPU threads, at most four per core; 0 means one per core.
/// @return  a note for the user if fewer were set than requested; otherwise empty
/// @throws std::system_error if so many cannot be started
std::string setThreads(std::int64_t threads);

}  // namespace roper
