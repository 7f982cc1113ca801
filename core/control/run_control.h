#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "core/control/control_server.h"

namespace roper {

/// What a signal or the control socket requests of the run.
enum class RunRequest { none, pause, stop, preempt };

/// The replies that only the loop that trains or serves can give.
struct RequestHandlers {
    std::function<std::string()> status;               ///< the text of a status reply
    bool trains = true;                                ///< otherwise pause, resume and checkpoint are refused
    std::function<Reply(const Request&)> answer = {};  ///< answers questions about the model; may throw
};

/// Collects requests between steps. Without a socket (its folder cannot be used) the run is watched only.
class RunControl {
  public:
    explicit RunControl(bool open_socket);

    /// Path of the socket, or empty.
    std::string socketPath() const;

    /// Why there is no socket although one was wanted; empty otherwise.
    const std::string& problem() const { return problem_; }

    /// Answers what has arrived, waiting up to `patience`.
    RunRequest poll(const RequestHandlers& handlers,
                    std::chrono::milliseconds patience = std::chrono::milliseconds(0));

    /// Within a handler: whether nobody waits for the answer any more.
    bool askerHasLeft() const { return server_ && server_->askerHasLeft(); }

    /// True once for each "checkpoint now".
    bool takeCheckpointRequest();

  private:
    Reply handle(const Request& request, const RequestHandlers& handlers);

    std::unique_ptr<ControlServer> server_;
    std::string problem_;
    bool paused_ = false;
    bool stop_ = false;
    bool checkpoint_ = false;
};

/// Answers requests until one or a signal says to stop, or `goes_on`, called a few times a second, says no.
void serveRequests(RunControl& control, const RequestHandlers& handlers,
                   const std::function<bool()>& goes_on);

}  // namespace roper
