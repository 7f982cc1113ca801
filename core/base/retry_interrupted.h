#pragma once

#include <cerrno>

namespace roper {

/// Repeats a system call while a signal interrupts it. @returns its last result, negative after a failure
template <class Call>
auto retryInterrupted(Call call) {
    auto result = call();
    while (result < 0 && errno == EINTR)
        result = call();
    return result;
}

}  // namespace roper
