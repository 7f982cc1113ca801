#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "core/control/control_server.h"

namespace roper {

/// A request to the run, made by a signal or over the control socket. `preempt`: save a checkpoint and end,
/// so that the run continues later, since the scheduler takes the machine away.
enum class RunRequest { none, pause, stop, preempt };

/// Replies that only the training or serving loop can give.
struct RequestHandlers {
    std::function<std::string()> status;               ///< returns the message of a status reply
    bool is_training = true;                           ///< false: pause, resume and checkpoint are refused
    std::function<Reply(const Request&)> answer = {};  ///< answers questions about the model; may throw
};

/// Collects requests between steps. Without a socket (if its folder cannot be used) only
/// signals can make any.
class RunControl {
  public:
    explicit RunControl(bool open_socket);

    /// Path of the socket; empty if there is none.
    std::string socketPath() const;

    /// Why the socket could not be created; empty otherwise.
    const std::string& problem() const { return problem_; }

    /// Answers pending requests; waits up to `timeout` for one. @returns the most urgent request
    RunRequest poll(const RequestHandlers& handlers,
                    std::chrono::milliseconds timeout = std::chrono::milliseconds(0));

    /// Within a handler: whether the client has disconnected.
    bool clientHasDisconnected() const { return server_ && server_->clientHasDisconnected(); }

    /// Returns true once after `Command::checkpoint` was requested.
    bool consumeCheckpointRequest();

  private:
    Reply handle(const Request& request, const RequestHandlers& handlers);

    std::unique_ptr<ControlServer> server_;
    std::string problem_;
    bool paused_ = false;
    bool stop_ = false;
    bool checkpoint_ = false;
};

/// Answers requests until one of them or a signal requests a stop, or `should_continue`, called a few times a
/// second, returns false.
void serveRequests(RunControl& control, const RequestHandlers& handlers,
                   const std::function<bool()>& should_continue);

}  // namespace roper
