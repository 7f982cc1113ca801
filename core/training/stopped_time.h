#pragma once

namespace roper {

/// Starts measuring how long this process is stopped (SIGSTOP, SIGTSTP, a debugger), since that is not
/// training time. Further calls do nothing.
void watchStoppedTime();

/// Seconds for which the process has been stopped since then, to within a tenth.
double stoppedSeconds();

}  // namespace roper
