#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <list>
#include <string>

#include "core/base/file_path.h"
#include "core/control/messages.h"

namespace roper {

/// Server side of the control socket. It has no thread: `serve` is called between steps, and while paused.
/// Malformed messages are answered with an error; clients that send too much are disconnected, as is the
/// oldest client if there are too many. No input from a client can end the trainer.
class ControlServer {
  public:
    /// Listens at `path`, accessible only to its owner. @throws Error (disk)
    explicit ControlServer(std::filesystem::path path);
    ~ControlServer();
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

    const std::filesystem::path& path() const { return path_; }

    using Handler = std::function<Reply(const Request&)>;

    /// Answers pending requests; waits up to `timeout` for one to arrive.
    void serve(const Handler& handler, std::chrono::milliseconds timeout = std::chrono::milliseconds(0));

    /// Within a handler: whether the client has closed the connection, so that the answer is no longer
    /// needed.
    bool clientHasDisconnected() const;

  private:
    /// A connected client.
    struct Peer {
        Descriptor descriptor;
        LineFramer framer = {};
        std::deque<std::string> pending = {};  ///< requests received but not yet answered
        std::string unsent = {};               ///< replies not yet written to the socket
        bool closing = false;                  ///< to be closed when everything is sent
    };

    void acceptPeers();
    /// Returns false if the peer has disconnected or must be dropped.
    bool servePeer(Peer& peer, short events, const Handler& handler);
    /// Answers pending requests, up to a limit per call. Returns false if the peer must be dropped.
    bool answerPending(Peer& peer, const Handler& handler);
    static bool sendUnsent(Peer& peer);

    std::filesystem::path path_;
    Descriptor listener_;
    int current_client_ = -1;  ///< descriptor of the peer whose request is being handled
    std::list<Peer> peers_;
};

}  // namespace roper
