#pragma once

#include <c10/util/Exception.h>

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "core/base/error.h"

namespace roper {

/// Text of the error when no more threads can be started.
inline constexpr const char* kNoThreads =
    "No more threads can be started: use fewer (--threads, device.threads), or raise the limit of processes "
    "(ulimit -u) or of address space (ulimit -v).";

/// Runs `work` and translates exceptions of LibTorch and the standard library into errors for the user.
/// @throws Error (memory) if memory or threads do not suffice, Error (usage) for std::invalid_argument, Error
/// (other) for all others; an Error passes unchanged
template <class Work>
auto translateErrors(Work work) {
    constexpr const char* kMemoryAdvice =
        "This machine does not have enough memory. Use a smaller batch, length, width or number of layers.";
    constexpr const char* kGpuMemoryAdvice =
        "The GPU does not have enough memory. Use a smaller batch, length, width or number of layers, or "
        "wait "
        "until other programs use less of it.";
    try {
        return work();
    } catch (const Error&) {
        throw;
    } catch (const c10::OutOfMemoryError& error) {
        throw Error(ErrorKind::memory,
                    std::string(kGpuMemoryAdvice) + " (" + error.what_without_backtrace() + ")");
    } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::memory, kMemoryAdvice);
    } catch (const c10::Error& error) {
        const std::string what = error.what_without_backtrace();
        if (what.find("allocate memory") != std::string::npos) throw Error(ErrorKind::memory, kMemoryAdvice);
        throw Error(ErrorKind::other, what);
    } catch (const std::system_error& error) {
        if (error.code() != std::errc::resource_unavailable_try_again)
            throw Error(ErrorKind::other, error.what());
        throw Error(ErrorKind::memory, kNoThreads);
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::usage, error.what());
    } catch (const std::exception& error) {
        throw Error(ErrorKind::other, error.what());
    }
}

}  // namespace roper
