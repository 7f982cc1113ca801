#pragma once

#include <ATen/Parallel.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace roper {

/// Sets the number of CPU threads, at most four per core; 0 means one per core.
/// @return  a note for the user if fewer were set than requested; otherwise empty
/// @throws std::system_error if that many cannot be started
std::string setThreads(std::int64_t threads);

/// Calls `work(item, scratch)` for every item, with one `Scratch` object per thread, whose memory all its
/// items reuse. Items are
/// scheduled dynamically, since the load of the cores is unknown.
template <class Scratch, class Work>
void forEachItem(std::size_t items, Work work) {
    std::atomic<std::size_t> next{0};
    at::parallel_for(0, at::get_num_threads(), 1, [&](std::int64_t, std::int64_t) {
        thread_local Scratch scratch;
        for (std::size_t item = next++; item < items; item = next++)
            work(item, scratch);
    });
}

}  // namespace roper
