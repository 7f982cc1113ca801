// roper-train: trains one run in a terminal, in the background of roper-lab or on a server, and answers
// questions about models. Data goes to stdout, messages to stderr; the exit codes are those of
// core/base/error.h.

#include <alloca.h>
#include <unistd.h>

#include <cstddef>

#include "app/roper_train/command_line.h"
#include "commit.h"
#include "core/base/this_process.h"

namespace {

// The sanitizers are not initialized yet when the functions below run, and neither is the C library.
#define ROPER_BEFORE_LIBRARIES __attribute__((no_sanitize("address", "thread", "undefined")))

/// Whether an entry of the environment, NAME=VALUE, sets this variable.
ROPER_BEFORE_LIBRARIES bool sets(const char* entry, const char* name) {
    while (*name != '\0' && *entry == *name)
        ++entry, ++name;
    return *name == '\0' && *entry == '=';
}

/// Restarts this program with GOMP_SPINCOUNT set (see limitOpenMpSpinning), which libgomp reads when it is
/// initialized. Runs before any library is initialized, since LibTorch takes 0.2 s for that. If restarting
/// fails, training is only slower.
ROPER_BEFORE_LIBRARIES void restartWithShortSpin(int, char** arguments, char** environment) {
    std::size_t count = 0;
    for (; environment[count] != nullptr; ++count)
        if (sets(environment[count], "OMP_WAIT_POLICY") || sets(environment[count], "GOMP_SPINCOUNT")) return;
    const auto extended = static_cast<char**>(alloca((count + 2) * sizeof(char*)));
    for (std::size_t i = 0; i < count; ++i)
        extended[i] = environment[i];
    extended[count] = roper::kShortOpenMpSpin;
    extended[count + 1] = nullptr;
    ::execve("/proc/self/exe", arguments, extended);
}

__attribute__((section(".preinit_array"), used)) void (*before_libraries)(int, char**,
                                                                          char**) = restartWithShortSpin;

}  // namespace

int main(int argc, char** argv) {
    roper::setProcessName("roper-train");  // a restarted process would be called "exe"
    roper::setProgramCommit(ROPER_LAB_COMMIT);
    roper::ignoreWriteSignals();
    roper::exitProgram(roper::runCommandLine(argc, argv));
}
