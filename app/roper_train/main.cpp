// roper-train: trains one run in a terminal, in the background of roper-lab or on a server, and answers
// questions about runs. Data goes to stdout, messages to stderr; the exit codes are those of
// core/base/error.h.

#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "app/roper_train/command_line.h"
#include "commit.h"
#include "core/base/console.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/this_process.h"

namespace {

/// Threads of LibTorch's OpenMP wait for each other many times per step. By default they spin for long, which
/// makes training many times slower as soon as anything else needs a core; a short spin costs nothing on an
/// idle machine. libgomp reads this before main, so the program re-executes itself.
void limitSpinning(char** argv) {
    if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
    ::setenv("GOMP_SPINCOUNT", "3000", 1);
    ::execv("/proc/self/exe", argv);  // where that fails, training is only slower
}

/// What was said on stdout has been taken by a disk that had no room for it, perhaps. A reader that has gone,
/// or a stdout that was closed from the beginning, is no failure. @throws Error (disk)
void requireOutput() {
    std::cout.flush();
    if (std::cout) return;
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    if (::poll(&output, 1, 0) < 0 || (output.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return;
    throw roper::Error(roper::ErrorKind::disk,
                       "what was to be written to standard output could not be: is the disk full?");
}

void tell(const std::exception& error) {
    roper::tellPerson("roper-train: " + roper::shortened(error.what(), roper::kLongestMessageText));
}

}  // namespace

int main(int argc, char** argv) {
    limitSpinning(argv);
    roper::setProgramCommit(ROPER_LAB_COMMIT);
    roper::letWritesFail();
    const roper::CleanOutput clean_output;
    try {
        const int code = roper::CommandLine().parseAndRun(argc, argv);
        if (code == 0) requireOutput();
        return code;
    } catch (const roper::Error& error) {
        tell(error);
        return error.exitCode();
    } catch (const std::exception& error) {
        tell(error);
        return static_cast<int>(roper::ErrorKind::other);
    }
}
