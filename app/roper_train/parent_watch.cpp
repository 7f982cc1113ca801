#include "app/roper_train/parent_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/stop_signals.h"

namespace roper {

ParentWatch::ParentWatch() : wake_(::eventfd(0, EFD_CLOEXEC)) {
    if (!wake_) throw diskError("make", "an eventfd", errno);
    watcher_ = std::thread([this] { watch(); });
}

ParentWatch::~ParentWatch() {
    ::eventfd_write(wake_.number(), 1);
    watcher_.join();
}

void ParentWatch::watch() {
    constexpr int kGracePeriod_ms = 1000;
    std::array<pollfd, 2> watched{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{wake_.number(), POLLIN, 0}};
    while (!has_exited_) {
        if (::poll(watched.data(), watched.size(), -1) < 0) continue;
        if (watched[1].revents != 0) return;
        std::array<char, 256> ignored;
        if (::read(STDIN_FILENO, ignored.data(), ignored.size()) <= 0) has_exited_ = true;
    }
    if (::poll(&watched[1], 1, kGracePeriod_ms) == 0) exitImmediately(0);
}

}  // namespace roper
