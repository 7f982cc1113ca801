#include "core/base/stop_signals.h"

#include <unistd.h>

#include <csignal>
#include <cstring>

namespace roper {
namespace {

constexpr int kInterruptedExitCode = 130;
constexpr unsigned kPatience_s = 1;
constexpr std::size_t kLongestPath = 4096;

// Signal handlers may access nothing else.
volatile std::sig_atomic_t interrupts = 0, terminations = 0, prompt_stops = 0;
char left_behind[kLongestPath];

void beginPatience() {
    if (prompt_stops > 0) ::alarm(kPatience_s);
}

void onInterrupt(int) {
    interrupts = interrupts + 1;
    if (interrupts > 1) ::_exit(kInterruptedExitCode);
    beginPatience();
}

void onTerminate(int) {
    terminations = terminations + 1;
    beginPatience();
}

/// Ends the process as the signal would without a handler.
void onEndOfPatience(int) {
    if (left_behind[0] != '\0') ::unlink(left_behind);
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
    handle(SIGALRM, onEndOfPatience);
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

StopsPromptly::StopsPromptly() {
    prompt_stops = prompt_stops + 1;
    if (stopIsRequested()) beginPatience();
}

StopsPromptly::~StopsPromptly() {
    prompt_stops = prompt_stops - 1;
    if (prompt_stops == 0) ::alarm(0);
}

void removeAtPromptStop(const std::filesystem::path& path) {
    if (path.native().size() < kLongestPath) std::strcpy(left_behind, path.c_str());
}

void endPromptly(int exit_code) {
    if (left_behind[0] != '\0') ::unlink(left_behind);
    ::_exit(exit_code);
}

}  // namespace roper
