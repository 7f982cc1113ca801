#include "core/base/stop_signals.h"

#include <unistd.h>

#include <csignal>
#include <cstring>

namespace roper {
namespace {

constexpr int kInterruptedExitCode = 130;
constexpr unsigned kTimeout_s = 1;
constexpr std::size_t kLongestPath = 4096;

// The only variables that the signal handlers access.
volatile std::sig_atomic_t interrupts = 0, terminations = 0, exit_scopes = 0;
char file_to_remove[kLongestPath];

void startExitTimer() {
    if (exit_scopes > 0) ::alarm(kTimeout_s);
}

void onInterrupt(int) {
    interrupts = interrupts + 1;
    if (interrupts > 1) ::_exit(kInterruptedExitCode);
    startExitTimer();
}

void onTerminate(int) {
    terminations = terminations + 1;
    startExitTimer();
}

/// Ends the process as the signal would without a handler.
void onExitTimer(int) {
    if (file_to_remove[0] != '\0') ::unlink(file_to_remove);
    const int why = terminations > 0 ? SIGTERM : SIGINT;
    ::signal(why, SIG_DFL);
    ::raise(why);
}

}  // namespace

void handleStopSignals() {
    struct sigaction action {};
    const auto handle = [&](int signal, void (*handler)(int)) {
        action.sa_handler = handler;
        ::sigaction(signal, &action, nullptr);
    };
    handle(SIGINT, onInterrupt);
    handle(SIGTERM, onTerminate);
    handle(SIGALRM, onExitTimer);
    handle(SIGHUP, SIG_IGN);   // closing a terminal does not end a run
    handle(SIGXFSZ, SIG_IGN);  // at a file size limit the write then fails, which is reported
}

StopSignal stopSignal() {
    if (terminations > 0) return StopSignal::terminate;
    return interrupts > 0 ? StopSignal::interrupt : StopSignal::none;
}

bool stopIsRequested() {
    return stopSignal() != StopSignal::none;
}

ExitOnStopSignal::ExitOnStopSignal() {
    exit_scopes = exit_scopes + 1;
    if (stopIsRequested()) startExitTimer();
}

ExitOnStopSignal::~ExitOnStopSignal() {
    exit_scopes = exit_scopes - 1;
    if (exit_scopes == 0) ::alarm(0);
}

void setFileToRemoveOnStop(const std::filesystem::path& path) {
    file_to_remove[0] = '\0';
    if (path.native().size() < kLongestPath) std::strcpy(file_to_remove, path.c_str());
}

void exitImmediately(int exit_code) {
    if (file_to_remove[0] != '\0') ::unlink(file_to_remove);
    ::_exit(exit_code);
}

}  // namespace roper
