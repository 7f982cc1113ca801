#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iostream>

namespace roper {

/// Whether this program was compiled with AddressSanitizer or ThreadSanitizer (cmake/OwnCode.cmake).
#ifdef ROPER_SANITIZED
inline constexpr bool kSanitizer = true;
#else
inline constexpr bool kSanitizer = false;
#endif

inline constexpr std::uint64_t kNoLimit = 0;

/// Limits this process to this much CPU time, and to this much memory beyond what it already uses. With
/// sanitizers, which need extra memory, only the time is limited, to ten times as much.
inline void limitThisProcess(std::uint64_t seconds, std::uint64_t bytes) {
    const auto limit = [](auto what, std::uint64_t most) {
        const rlimit both{most, most};
        ::setrlimit(what, &both);
    };
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    if (!kSanitizer && bytes != kNoLimit)
        limit(RLIMIT_AS, pages * static_cast<std::uint64_t>(::getpagesize()) + bytes);
    limit(RLIMIT_CPU, kSanitizer ? 10 * seconds : seconds);
    limit(RLIMIT_CORE, 0);
}

/// Runs `work` in its own process within such limits; the load of the machine does not matter.
/// @returns whether it finished
template <class Work>
bool finishesWithin(std::uint64_t seconds, std::uint64_t bytes, Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
        limitThisProcess(seconds, bytes);
        try {
            work();
            ::_exit(::testing::Test::HasFailure() ? 1 : 0);
        } catch (const std::exception& error) {
            std::cerr << error.what() << std::endl;
        }
        ::_exit(1);
    }
    int status = 0;
    return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/// The limits for any model below 10 MB: ten seconds and 1 GB. @param work  returns whether it succeeded
template <class Work>
void expectWithinLimits(Work work) {
    EXPECT_TRUE(finishesWithin(10, 1U << 30U, [&] { EXPECT_TRUE(work()); }));
}

}  // namespace roper
