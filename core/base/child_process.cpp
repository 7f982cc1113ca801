#include "core/base/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/base/error.h"

extern char** environ;

namespace roper {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(10);
constexpr int kMaxPolls = 200;  // then it is killed

}  // namespace

pid_t startProcess(const std::string& program, const std::vector<std::string>& arguments,
                   const std::array<int, 3>& standard) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    for (std::size_t i = 0; i < standard.size(); ++i)
        if (standard[i] >= 0) ::posix_spawn_file_actions_adddup2(&files, standard[i], static_cast<int>(i));
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, program.c_str(), &files, &attributes, argv.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw Error(ErrorKind::other, "cannot start " + program + ": " + std::strerror(error));
    return pid;
}

PipedProcess::PipedProcess(const std::string& program, const std::vector<std::string>& arguments)
    : program_(arguments.front()) {
    // Sockets, because MSG_NOSIGNAL can then suppress SIGPIPE.
    int to[2], from[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) != 0)
        throw Error(ErrorKind::other,
                    std::string("cannot make a socket pair for ") + program + ": " + std::strerror(errno));
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, from) != 0) {
        const int error = errno;
        ::close(to[0]), ::close(to[1]);
        throw Error(ErrorKind::other,
                    std::string("cannot make a socket pair for ") + program + ": " + std::strerror(error));
    }
    to_ = to[0], from_ = from[0];
    try {
        pid_ = startProcess(program, arguments, {to[1], from[1], -1});
    } catch (...) {
        for (const int descriptor : {to[0], to[1], from[0], from[1]})
            ::close(descriptor);
        throw;
    }
    ::close(to[1]);
    ::close(from[1]);
}

PipedProcess::~PipedProcess() {
    ::close(to_);
    ::close(from_);
    ::kill(-pid_, SIGTERM);  // and what it has started
    for (int polls = 0; ::waitpid(pid_, nullptr, WNOHANG) == 0; ++polls) {
        if (polls == kMaxPolls) ::kill(-pid_, SIGKILL);
        std::this_thread::sleep_for(kPollInterval);
    }
}

void PipedProcess::write(const std::string& line) {
    const std::string all = line + "\n";
    for (std::size_t done = 0; done < all.size();) {
        const ssize_t written = ::send(to_, all.data() + done, all.size() - done, MSG_NOSIGNAL);
        if (written < 0 && errno != EINTR)
            throw Error(ErrorKind::other, program_ + " has closed its input: " + std::strerror(errno));
        if (written > 0) done += static_cast<std::size_t>(written);
    }
}

std::optional<std::string> PipedProcess::read() {
    while (true) {
        if (const std::size_t end = unread_.find('\n'); end != std::string::npos) {
            std::string line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return line;
        }
        std::array<char, 4096> part;
        const ssize_t got = ::read(from_, part.data(), part.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return std::nullopt;
        unread_.append(part.data(), static_cast<std::size_t>(got));
    }
}

}  // namespace roper
