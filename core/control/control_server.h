#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <list>
#include <string>

#include "core/control/messages.h"

namespace roper {

/// The trainer's end of the control socket. It has no thread: `serve` is called between steps, and while
/// paused. A message that cannot be read is answered with an error; a peer that floods is dropped, and the
/// oldest one where there are too many; nothing that a peer sends ends the trainer.
class ControlServer {
  public:
    /// Listens at `path`, for its owner alone. @throws Error (disk)
    explicit ControlServer(std::filesystem::path path);
    ~ControlServer();
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

    const std::filesystem::path& path() const { return path_; }

    using Handler = std::function<Reply(const Request&)>;

    /// Answers what has arrived; waits up to `patience` for something to arrive.
    void serve(const Handler& handler, std::chrono::milliseconds patience = std::chrono::milliseconds(0));

    /// Within a handler: whether who asked has closed the connection, so that nobody waits for the answer.
    bool askerHasLeft() const;

  private:
    struct Peer {
        int descriptor;
        LineFramer framer = {};
        std::deque<std::string> waiting = {};  ///< requests that are not answered yet
        std::string unsent = {};               ///< replies that did not fit into the socket yet
        bool leaving = false;                  ///< to be closed when all is sent
    };

    void acceptPeers();
    /// False if the peer is gone or must go.
    bool servePeer(Peer& peer, short events, const Handler& handler);
    /// Answers what waits, as much as one visit allows. False if the peer must go.
    bool answerWaiting(Peer& peer, const Handler& handler);
    static bool sendUnsent(Peer& peer);

    std::filesystem::path path_;
    int listener_ = -1;
    int asker_ = -1;  ///< descriptor of the peer whose request is being answered
    std::list<Peer> peers_;
};

}  // namespace roper
