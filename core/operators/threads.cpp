#include "core/operators/threads.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <exception>
#include <latch>
#include <thread>
#include <vector>

#include "core/base/available.h"

namespace roper {
namespace {

/// If threads cannot be started, OpenMP ends the program without saying what to change.
/// @throws std::system_error
void requireThreads(std::int64_t count) {
    constexpr std::int64_t kExtraThreads = 3;  // BatchStream, watchStoppedTime, and one of LibTorch
    std::latch end(1);
    std::vector<std::thread> threads;
    std::exception_ptr problem;
    try {
        while (static_cast<std::int64_t>(threads.size()) + 1 < count + kExtraThreads)
            threads.emplace_back([&] { end.wait(); });
    } catch (...) {
        problem = std::current_exception();
    }
    end.count_down();
    for (std::thread& thread : threads)
        thread.join();
    if (problem) std::rethrow_exception(problem);
}

}  // namespace

std::string setThreads(std::int64_t threads) {
    constexpr std::int64_t kMaxThreadsPerCore = 4;
    const auto cores = std::int64_t{usableCores()};
    const std::int64_t used = threads > 0 ? std::min(threads, kMaxThreadsPerCore * cores) : cores;
    requireThreads(used);
    at::set_num_threads(static_cast<int>(used));
    if (threads <= used) return {};
    return "using " + std::to_string(used) + " of " + std::to_string(threads) +
           " threads (device.threads), four for each core: more would only wait for each other";
}

}  // namespace roper
