#include "core/base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/base/error.h"
#include "core/base/retry_interrupted.h"

extern char** environ;

namespace roper {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(10);
constexpr int kMaxPolls = 200;  // number of polls before a child is killed

/// argv or envp for exec; the strings must outlive it.
std::vector<char*> pointersTo(const std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (const std::string& one : strings)
        pointers.push_back(const_cast<char*>(one.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

/// @param start        posix_spawn, or posix_spawnp, which searches PATH
/// @param environment  "NAME=value" for each variable; empty: inherited
pid_t spawn(decltype(&::posix_spawn) start, const std::string& program,
            const std::vector<std::string>& arguments, const std::array<int, 3>& standard,
            const std::vector<std::string>& environment = {}) {
    const std::vector<char*> argv = pointersTo(arguments), variables = pointersTo(environment);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    for (std::size_t i = 0; i < standard.size(); ++i)
        if (standard[i] >= 0) ::posix_spawn_file_actions_adddup2(&files, standard[i], static_cast<int>(i));
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    // Otherwise children inherit ignored signals, which then cannot end them.
    sigset_t ends;
    ::sigemptyset(&ends);
    for (const int signal : {SIGTERM, SIGINT, SIGPIPE})
        ::sigaddset(&ends, signal);
    ::posix_spawnattr_setsigdefault(&attributes, &ends);
    pid_t pid = 0;
    const int error = start(&pid, program.c_str(), &files, &attributes, argv.data(),
                            environment.empty() ? environ : variables.data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw Error(ErrorKind::other, "cannot start " + program + ": " + std::strerror(error));
    return pid;
}

struct Pipe {
    Descriptor read, write;
};

Pipe makePipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        throw Error(ErrorKind::other, std::string("cannot make a pipe: ") + std::strerror(errno));
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// A pair of sockets used as a pipe, so that MSG_NOSIGNAL can suppress SIGPIPE.
Pipe makeSocketPipe(const std::string& program) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw Error(ErrorKind::other,
                    "cannot make a socket pair for " + program + ": " + std::strerror(errno));
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

int exitCodeOf(int wait_status) {
    constexpr int kSignalled = 128;
    return WIFSIGNALED(wait_status) ? kSignalled + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/// A child that is killed, with its process group, unless it is reaped before.
class Child {
  public:
    explicit Child(pid_t pid) : pid_(pid) {}
    ~Child() {
        if (pid_ == 0) return;
        ::kill(-pid_, SIGKILL);
        reap(0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// The wait status; nothing while the child runs (with WNOHANG).
    std::optional<int> reap(int options) {
        int status = SIGKILL;  // if it cannot be found out, the program counts as failed
        const pid_t ended = retryInterrupted([&] { return ::waitpid(pid_, &status, options); });
        if (ended == 0) return std::nullopt;
        pid_ = 0;
        return status;
    }

  private:
    pid_t pid_;
};

/// Reads available data from a descriptor. @returns whether more may follow
bool takeFrom(int descriptor, std::string& to) {
    std::array<char, 1 << 16> part;
    const ssize_t got = retryInterrupted([&] { return ::read(descriptor, part.data(), part.size()); });
    if (got > 0) to.append(part.data(), static_cast<std::size_t>(got));
    return got > 0;
}

}  // namespace

Descriptor inputDescriptorFor(std::string_view bytes) {
    const auto refused = [] {
        return Error(ErrorKind::memory,
                     std::string("cannot store the input of another program: ") + std::strerror(errno));
    };
    Descriptor file(::memfd_create("input", MFD_CLOEXEC));
    if (!file) throw refused();
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t written = retryInterrupted([&] {
            return ::pwrite(file.number(), bytes.data() + done, bytes.size() - done,
                            static_cast<off_t>(done));
        });
        if (written < 0) throw refused();
        done += static_cast<std::size_t>(written);
    }
    return file;
}

pid_t startProcess(const std::string& program, const std::vector<std::string>& arguments,
                   const std::array<int, 3>& standard) {
    return spawn(&::posix_spawn, program, arguments, standard);
}

std::optional<int> exitCodeIfEnded(pid_t pid) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) != pid) return std::nullopt;
    return exitCodeOf(status);
}

void waitOrKill(std::vector<pid_t> children) {
    const auto has_ended = [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; };
    for (int polls = 0; std::erase_if(children, has_ended), !children.empty(); ++polls) {
        if (polls == kMaxPolls)
            for (const pid_t pid : children)
                ::kill(-pid, SIGKILL);
        std::this_thread::sleep_for(kPollInterval);
    }
}

std::optional<ProgramResult> runProgramWhile(const std::function<bool()>& should_continue,
                                             const std::vector<std::string>& arguments,
                                             std::string_view input,
                                             const std::vector<std::string>& environment) {
    constexpr int kBetweenLooks_ms = 50;
    Pipe output = makePipe(), errors = makePipe();
    const Descriptor standard_input = inputDescriptorFor(input);
    Child child(spawn(&::posix_spawnp, arguments.front(), arguments,
                      {standard_input.number(), output.write.number(), errors.write.number()}, environment));
    output.write = Descriptor();
    errors.write = Descriptor();
    ProgramResult result;
    std::array<pollfd, 2> from{pollfd{output.read.number(), POLLIN, 0},
                               pollfd{errors.read.number(), POLLIN, 0}};
    const std::array<std::string*, 2> to{&result.output, &result.errors};
    const auto is_cancelled = [&] { return should_continue && !should_continue(); };
    while (from[0].fd >= 0 || from[1].fd >= 0) {
        if (is_cancelled()) return std::nullopt;
        if (::poll(from.data(), from.size(), should_continue ? kBetweenLooks_ms : -1) < 0) continue;
        for (std::size_t i = 0; i < from.size(); ++i)
            if ((from[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !takeFrom(from[i].fd, *to[i]))
                from[i].fd = -1;
    }
    std::optional<int> status;
    while (!(status = child.reap(should_continue ? WNOHANG : 0))) {
        if (is_cancelled()) return std::nullopt;
        std::this_thread::sleep_for(kPollInterval);
    }
    result.exit_code = exitCodeOf(*status);
    result.signal = WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
    return result;
}

ProgramResult runProgram(const std::vector<std::string>& arguments, double seconds, std::string_view input,
                         const std::vector<std::string>& environment) {
    using Clock = std::chrono::steady_clock;
    const auto until =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    auto result = runProgramWhile([&] { return Clock::now() < until; }, arguments, input, environment);
    if (result) return std::move(*result);
    throw ProgramTimedOut(ErrorKind::other, arguments.front() + " did not respond within " +
                                                std::to_string(static_cast<int>(seconds)) + " s");
}

PipedProcess::PipedProcess(const std::string& program, const std::vector<std::string>& arguments)
    : program_(arguments.front()) {
    Pipe to = makeSocketPipe(program), from = makeSocketPipe(program);
    pid_ = startProcess(program, arguments, {to.read.number(), from.write.number(), -1});
    to_ = std::move(to.write);
    from_ = std::move(from.read);
}

PipedProcess::~PipedProcess() {
    to_ = Descriptor();
    from_ = Descriptor();
    ::kill(-pid_, SIGTERM);  // and all processes it has started
    waitOrKill({pid_});
}

void PipedProcess::write(const std::string& line) {
    const std::string all = line + "\n";
    for (std::size_t done = 0; done < all.size();) {
        const ssize_t written = retryInterrupted(
            [&] { return ::send(to_.number(), all.data() + done, all.size() - done, MSG_NOSIGNAL); });
        if (written < 0)
            throw Error(ErrorKind::other, program_ + " has closed its input: " + std::strerror(errno));
        done += static_cast<std::size_t>(written);
    }
}

std::optional<std::string> PipedProcess::read() {
    while (true) {
        if (const std::size_t end = unread_.find('\n'); end != std::string::npos) {
            std::string line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return line;
        }
        if (!takeFrom(from_.number(), unread_)) return std::nullopt;
    }
}

}  // namespace roper
