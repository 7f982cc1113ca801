// roper-train: trains one run in a terminal, in the background of roper-lab or on a server, and answers
// questions about runs. Data goes to stdout, messages to stderr; the exit codes are those of
// core/base/error.h.

#include <unistd.h>

#include <cstdlib>

#include "app/roper_train/command_line.h"
#include "commit.h"
#include "core/base/console.h"
#include "core/base/this_process.h"

namespace {

/// Threads of LibTorch's OpenMP wait for each other many times per step. By default they spin for long, which
/// makes training many times slower as soon as anything else needs a core; a short spin costs nothing on an
/// idle machine. libgomp reads this before main, so the program re-executes itself.
void limitSpinning(char** argv) {
    if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
    ::setenv("GOMP_SPINCOUNT", "3000", 1);
    ::execv("/proc/self/exe", argv);  // if it fails, training is only slower
}

}  // namespace

int main(int argc, char** argv) {
    limitSpinning(argv);
    roper::setProgramCommit(ROPER_LAB_COMMIT);
    roper::ignoreWriteSignals();
    const roper::TerminalOutputFilter clean_output;
    return roper::runReportingErrors("roper-train",
                                     [&] { return roper::CommandLine().parseAndRun(argc, argv); });
}
