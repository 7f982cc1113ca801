#include "core/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/retry_interrupted.h"
#include "core/base/stop_signals.h"
#include "core/base/text.h"
#include "core/base/this_process.h"

namespace roper {
namespace {

constexpr mode_t kOwnerOnly = 0600;
constexpr std::size_t kLongestHolder = 200;

struct flock wholeFile(short type) {
    struct flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    return range;
}

/// Takes both kinds of lock: flock, which trainers of older versions use, and an open file description lock,
/// which can be queried without taking it. @returns 0 or errno
int tryLock(const Descriptor& file) {
    if (retryInterrupted([&] { return ::flock(file.number(), LOCK_EX | LOCK_NB); }) != 0) return errno;
    struct flock range = wholeFile(F_WRLCK);
    // EINVAL: the kernel lacks this kind of lock
    if (::fcntl(file.number(), F_OFD_SETLK, &range) == 0 || errno == EINVAL) return 0;
    const int error_number = errno;
    ::flock(file.number(), LOCK_UN);
    return error_number;
}

bool hasNoLocks(int error_number) {
    return error_number == ENOLCK || error_number == ENOSYS || error_number == EOPNOTSUPP;
}

bool isHeldByAnother(int error_number) {
    return error_number == EWOULDBLOCK || error_number == EACCES || error_number == EAGAIN;
}

/// Stores the holder's name for waiting processes. Failing to write it does not affect the lock.
void leaveName(const Descriptor& file) {
    const std::string name = "process " + std::to_string(::getpid()) + " on " + thisHost() + "\n";
    if (::ftruncate(file.number(), 0) != 0) return;
    [[maybe_unused]] const ssize_t ignored = ::pwrite(file.number(), name.data(), name.size(), 0);
}

std::string holderOf(const FilePath& path) {
    try {
        const std::string name = toSingleLine(trimmed(readEnd(path, kLongestHolder)));
        if (!name.empty()) return name;
    } catch (const Error&) {
    }
    return "another program";
}

}  // namespace

FileLock::FileLock(const FilePath& path, const WaitCallback& on_wait) {
    constexpr auto kBetweenTries = std::chrono::milliseconds(100);
    file_ = openFile(path, O_RDWR | O_CREAT, kOwnerOnly);
    ::fchmod(file_.number(), kOwnerOnly);  // in older versions everyone could lock it
    while (const int error_number = tryLock(file_)) {
        if (hasNoLocks(error_number)) break;
        if (!isHeldByAnother(error_number)) throw diskError("lock", path.string(), error_number);
        holder_ = holderOf(path);
        if (!on_wait || !on_wait(holder_)) return;
        std::this_thread::sleep_for(kBetweenTries);
    }
    held_ = true;
    leaveName(file_);
}

std::optional<bool> isLockHeld(const FilePath& path) {
    try {
        const Descriptor file = openFileIfExists(path, O_RDWR);
        if (!file) return false;
        struct flock range = wholeFile(F_WRLCK);
        if (::fcntl(file.number(), F_OFD_GETLK, &range) != 0) return std::nullopt;
        return range.l_type != F_UNLCK;
    } catch (const Error&) {
        return std::nullopt;
    }
}

FileLock::WaitCallback waitAtMost(double seconds, const std::string& what) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    return [until, what](const std::string& holder) {
        if (stopIsRequested())
            throw Error(ErrorKind::preempted,
                        "stopped while waiting for " + holder + ", which holds " + what);
        if (std::chrono::steady_clock::now() < until) return true;
        throw Error(ErrorKind::usage, holder + " holds " + what +
                                          " and does not release it; end that process, or try again later");
    };
}

}  // namespace roper
