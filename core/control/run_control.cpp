#include "core/control/run_control.h"

#include <unistd.h>

#include <utility>

#include "core/base/stop_signals.h"
#include "core/control/socket_path.h"

namespace roper {

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

RunRequest RunControl::poll(const RequestHandlers& handlers, std::chrono::milliseconds timeout) {
    if (server_) {
        server_->serve([&](const Request& request) { return handle(request, handlers); }, timeout);
    } else if (timeout.count() > 0) {
        ::usleep(static_cast<useconds_t>(timeout.count() * 1000));
    }
    if (stopSignal() == StopSignal::terminate) return RunRequest::preempt;
    if (stop_ || stopSignal() == StopSignal::interrupt) return RunRequest::stop;
    return paused_ ? RunRequest::pause : RunRequest::none;
}

bool RunControl::consumeCheckpointRequest() {
    return std::exchange(checkpoint_, false);
}

Reply RunControl::handle(const Request& request, const RequestHandlers& handlers) {
    const bool is_of_training = request.command == Command::pause || request.command == Command::resume ||
                                request.command == Command::checkpoint;
    if (is_of_training && !handlers.is_training)
        return {"", false,
                commandName(request.command) + " works only for a run in training; this one is only served"};
    switch (request.command) {
        case Command::status:
            return {"", true, handlers.status()};
        case Command::pause:
            paused_ = true;
            return {"", true, "paused; nothing is computed until it is resumed"};
        case Command::resume:
            paused_ = false;
            return {"", true, "training resumes"};
        case Command::stop:
            stop_ = true;
            return {"", true, "saving a checkpoint, then ending; the run can be resumed"};
        case Command::checkpoint:
            checkpoint_ = true;
            return {"", true, "a checkpoint is being written"};
        case Command::head:
        case Command::maps:
        case Command::generate:
        case Command::question:
            return handlers.answer(request);
    }
    return {"", false, "unknown command"};
}

void serveRequests(RunControl& control, const RequestHandlers& handlers,
                   const std::function<bool()>& should_continue) {
    constexpr auto kPatience = std::chrono::milliseconds(200);
    while (should_continue()) {
        const RunRequest request = control.poll(handlers, kPatience);
        if (request == RunRequest::stop || request == RunRequest::preempt) return;
    }
}

}  // namespace roper
