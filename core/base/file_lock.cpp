#include "core/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "core/base/error.h"

namespace roper {

FileLock::FileLock(const std::filesystem::path& path, const std::function<bool()>& goes_on) {
    constexpr auto kBetweenTries = std::chrono::milliseconds(100);
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0) throw diskError("open", path.string(), errno);
    while (::flock(descriptor_, goes_on ? LOCK_EX | LOCK_NB : LOCK_EX) != 0) {
        const int why = errno;
        if (why != EINTR && why != EWOULDBLOCK) {
            ::close(descriptor_);
            throw diskError("lock", path.string(), why);
        }
        if (!goes_on) continue;
        if (!goes_on()) return;
        std::this_thread::sleep_for(kBetweenTries);
    }
    held_ = true;
}

FileLock::~FileLock() {
    ::close(descriptor_);
}

}  // namespace roper
