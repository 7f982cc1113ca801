#pragma once

namespace roper {

/// Begins to measure how long this process is stopped (SIGSTOP, SIGTSTP, a debugger): a stopped process
/// computes nothing, so this is no training time. Called once; again does nothing.
void watchStoppedTime();

/// Seconds for which the process has been stopped since then, to within a tenth.
double stoppedSeconds();

}  // namespace roper
