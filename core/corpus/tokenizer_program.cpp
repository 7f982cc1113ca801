#include "core/corpus/tokenizer_program.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "core/base/child_process.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

namespace fs = std::filesystem;

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

/// A file in memory. Unlike a pipe, it accepts any amount of data without a reader.
class MemoryFile {
  public:
    MemoryFile() : descriptor_(::memfd_create("tokens", MFD_CLOEXEC)) {
        if (descriptor_ < 0) throw diskError("make a file in", "memory", errno);
    }
    ~MemoryFile() { ::close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    int descriptor() const { return descriptor_; }

    std::string content() const {
        std::string all;
        std::array<char, 1 << 16> part;
        while (true) {
            const ssize_t got =
                ::pread(descriptor_, part.data(), part.size(), static_cast<off_t>(all.size()));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return all;
            all.append(part.data(), static_cast<std::size_t>(got));
        }
    }

  private:
    int descriptor_;
};

fs::path programPath() {
    const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path() / "roper-tokenizer";
    if (::access(beside.c_str(), X_OK) != 0)
        throw Error(ErrorKind::usage, "texts are tokenized by roper-tokenizer, which was not found at " +
                                          beside.string() + "; build it with ./lab setup");
    return beside;
}

/// The running program; the destructor ends it.
class Running {
  public:
    explicit Running(pid_t pid) : pid_(pid) {}
    ~Running() {
        if (ended_) return;
        ::kill(pid_, SIGTERM);
        waitOrKill({pid_});
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    /// The wait status; nothing if `should_continue` cancelled.
    std::optional<int> waitFor(const std::function<bool()>& should_continue) {
        while (!wait(should_continue ? WNOHANG : 0)) {
            if (!should_continue()) return std::nullopt;
            std::this_thread::sleep_for(kBetweenLooks);
        }
        return status_;
    }

  private:
    /// Whether the program has ended.
    bool wait(int options) {
        pid_t result = 0;
        do
            result = ::waitpid(pid_, &status_, options);
        while (result < 0 && errno == EINTR);
        if (result < 0) status_ = SIGKILL;  // the status is unknown, so it counts as failed
        ended_ = result != 0;
        return ended_;
    }

    pid_t pid_;
    int status_ = 0;
    bool ended_ = false;
};

/// The program's message without its name as prefix.
std::string messageOf(const MemoryFile& messages) {
    constexpr std::string_view kName = "roper-tokenizer: ";
    const std::string said = trimmed(messages.content());
    return said.starts_with(kName) ? said.substr(kName.size()) : said;
}

}  // namespace

std::optional<std::string> runTokenizer(const std::vector<std::string>& arguments, std::string_view input,
                                        const std::function<bool()>& should_continue) {
    const Descriptor stdin_file = inputDescriptorFor(input);
    const MemoryFile stdout_file, stderr_file;
    std::vector<std::string> named = {"roper-tokenizer"};
    named.insert(named.end(), arguments.begin(), arguments.end());
    Running program(startProcess(programPath(), named,
                                 {stdin_file.number(), stdout_file.descriptor(), stderr_file.descriptor()}));
    const std::optional<int> status = program.waitFor(should_continue);
    if (!status) return std::nullopt;
    if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return stdout_file.content();
    if (WIFEXITED(*status)) throw Error(static_cast<ErrorKind>(WEXITSTATUS(*status)), messageOf(stderr_file));
    throw Error(ErrorKind::memory, "roper-tokenizer was terminated by signal " +
                                       std::to_string(WTERMSIG(*status)) +
                                       "; the machine may be short of memory");
}

}  // namespace roper
