// roper-train: trains one run in a terminal, in the background of roper-lab or on a server, and answers
// questions about runs. Data goes to stdout, messages to stderr; the exit codes are those of
// core/base/error.h.

#include <unistd.h>

#include "app/roper_train/command_line.h"
#include "commit.h"
#include "core/base/console.h"
#include "core/base/this_process.h"

int main(int argc, char** argv) {
    if (roper::limitOpenMpSpinning())
        ::execv("/proc/self/exe", argv);  // if it fails, training is only slower
    roper::setProgramCommit(ROPER_LAB_COMMIT);
    roper::ignoreWriteSignals();
    const roper::TerminalOutputFilter clean_output;
    return roper::runReportingErrors("roper-train",
                                     [&] { return roper::CommandLine().parseAndRun(argc, argv); });
}
