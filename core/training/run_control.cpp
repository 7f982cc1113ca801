#include "core/training/run_control.h"

#include <unistd.h>

#include <csignal>
#include <utility>

#include "core/control/socket_path.h"

namespace roper {
namespace {

volatile std::sig_atomic_t interrupts = 0;
volatile std::sig_atomic_t terminations = 0;

constexpr int kInterruptedExitCode = 130;

void onInterrupt(int) {
    interrupts = interrupts + 1;
    if (interrupts > 1) ::_exit(kInterruptedExitCode);
}

void onTerminate(int) {
    terminations = terminations + 1;
}

}  // namespace

void handleStopSignals() {
    struct sigaction action {};
    action.sa_handler = onInterrupt;
    ::sigaction(SIGINT, &action, nullptr);
    action.sa_handler = onTerminate;
    ::sigaction(SIGTERM, &action, nullptr);
    action.sa_handler = SIG_IGN;  // a terminal that is closed does not end a run
    ::sigaction(SIGHUP, &action, nullptr);
    ::sigaction(SIGXFSZ, &action, nullptr);  // at a limit of file size the write fails, and that is reported
}

bool stopIsRequested() {
    return interrupts > 0 || terminations > 0;
}

RunControl::RunControl(bool open_socket) {
    if (!open_socket) return;
    try {
        server_ = std::make_unique<ControlServer>(controlSocketPath());
    } catch (const std::exception& error) {
        problem_ = error.what();
    }
}

std::string RunControl::socketPath() const {
    return server_ ? server_->path().string() : std::string();
}

RunRequest RunControl::poll(const RequestHandlers& handlers, std::chrono::milliseconds patience) {
    if (server_) {
        server_->serve([&](const Request& request) { return handle(request, handlers); }, patience);
    } else if (patience.count() > 0) {
        ::usleep(static_cast<useconds_t>(patience.count() * 1000));
    }
    if (terminations > 0) return RunRequest::preempt;
    if (stop_ || interrupts > 0) return RunRequest::stop;
    return paused_ ? RunRequest::pause : RunRequest::none;
}

bool RunControl::takeCheckpointRequest() {
    return std::exchange(checkpoint_, false);
}

Reply RunControl::handle(const Request& request, const RequestHandlers& handlers) {
    const bool is_of_training = request.command == Command::pause || request.command == Command::resume ||
                                request.command == Command::checkpoint;
    if (is_of_training && !handlers.trains)
        return {"", false,
                commandName(request.command) + " is for a run that trains; this one is only served"};
    switch (request.command) {
        case Command::status:
            return {"", true, handlers.status()};
        case Command::pause:
            paused_ = true;
            return {"", true, "paused; nothing is computed until it is resumed"};
        case Command::resume:
            paused_ = false;
            return {"", true, "training continues"};
        case Command::stop:
            stop_ = true;
            return {"", true, "saving a checkpoint, then ending; the run can be resumed"};
        case Command::checkpoint:
            checkpoint_ = true;
            return {"", true, "a checkpoint is being written"};
        case Command::head:
        case Command::maps:
        case Command::generate:
            return handlers.probe(request);
        case Command::look:
            if (handlers.look) return handlers.look(request);
            return {"", false, "a trainer does not answer \"look\"; `roper-train serve RUN` does"};
    }
    return {"", false, "unknown command"};
}

void serveRequests(RunControl& control, const RequestHandlers& handlers,
                   const std::function<bool()>& goes_on) {
    constexpr auto kPatience = std::chrono::milliseconds(200);
    while (goes_on()) {
        const RunRequest request = control.poll(handlers, kPatience);
        if (request == RunRequest::stop || request == RunRequest::preempt) return;
    }
}

}  // namespace roper
