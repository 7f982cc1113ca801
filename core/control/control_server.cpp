#include "core/control/control_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "core/base/error.h"
#include "core/control/socket_path.h"

namespace roper {
namespace {

constexpr std::size_t kMaxPeers = 16;

Reply answer(const std::string& line, const ControlServer::Handler& handler) {
    std::string id;
    try {
        const Request request = parseRequest(line);
        id = request.id;
        Reply reply = handler(request);
        reply.id = id;
        return reply;
    } catch (const std::exception& error) {
        return {id, false, error.what()};
    }
}

/// A peer that sends requests without reading the replies is dropped when this many bytes are unsent.
constexpr std::size_t kMaxUnsentBytes = kMaxPayloadBytes + 16 * kMaxMessageLineBytes;

/// Maximal number of requests answered per call, so that a peer cannot hold up the training; after a request
/// that runs the model, the others wait for the next call.
constexpr int kMaxAnswersPerCall = 64;

/// Events to poll a peer for. A peer that has closed its sending side would always be readable.
short eventsFor(bool closing, bool has_unsent) {
    if (closing) return POLLOUT;
    return has_unsent ? POLLIN | POLLOUT : POLLIN;
}

}  // namespace

ControlServer::ControlServer(std::filesystem::path path) : path_(std::move(path)) {
    const auto address = socketAddress(path_);
    if (!address)
        throw Error(ErrorKind::disk, "the control socket's path is too long: " + path_.string() +
                                         "; set XDG_RUNTIME_DIR to a shorter folder");
    listener_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener_) throw diskError("create", path_.string(), errno);
    ::unlink(path_.c_str());  // left over from an ended process with the same pid
    if (::bind(listener_.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
        ::chmod(path_.c_str(), 0600) != 0 || ::listen(listener_.number(), static_cast<int>(kMaxPeers)) != 0)
        throw diskError("listen at", path_.string(), errno);
}

ControlServer::~ControlServer() {
    ::unlink(path_.c_str());
}

void ControlServer::serve(const Handler& handler, std::chrono::milliseconds timeout) {
    std::vector<pollfd> watched{{listener_.number(), POLLIN, 0}};
    const bool has_pending =
        std::ranges::any_of(peers_, [](const Peer& peer) { return !peer.pending.empty(); });
    for (const Peer& peer : peers_)
        watched.push_back({peer.descriptor.number(), eventsFor(peer.closing, !peer.unsent.empty()), 0});
    if (::poll(watched.data(), watched.size(), has_pending ? 0 : static_cast<int>(timeout.count())) <= 0 &&
        !has_pending)
        return;
    auto ready = watched.begin() + 1;
    for (auto peer = peers_.begin(); peer != peers_.end(); ++ready) {
        const bool has_work = ready->revents != 0 || !peer->pending.empty();
        const bool is_done = has_work && !servePeer(*peer, ready->revents, handler);
        peer = is_done ? peers_.erase(peer) : std::next(peer);
    }
    if (watched.front().revents != 0) acceptPeers();
}

void ControlServer::acceptPeers() {
    while (true) {
        Descriptor descriptor(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!descriptor) return;
        // The oldest connection has had time to send requests.
        if (peers_.size() >= kMaxPeers) peers_.pop_front();
        peers_.push_back({std::move(descriptor)});
    }
}

/// Sends as much as fits without blocking. Returns false if the peer has disconnected.
bool ControlServer::sendUnsent(Peer& peer) {
    while (!peer.unsent.empty()) {
        const ssize_t sent = ::send(peer.descriptor.number(), peer.unsent.data(), peer.unsent.size(),
                                    MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        peer.unsent.erase(0, static_cast<std::size_t>(sent));
    }
    return !peer.closing || !peer.pending.empty();
}

bool ControlServer::answerPending(Peer& peer, const Handler& handler) {
    for (int answered = 0; answered < kMaxAnswersPerCall && !peer.pending.empty(); ++answered) {
        const std::string line = std::move(peer.pending.front());
        peer.pending.pop_front();
        current_client_ = peer.descriptor.number();
        const Reply reply = answer(line, handler);
        current_client_ = -1;
        peer.unsent.append(formatReply(reply)).append("\n").append(reply.payload);
        if (peer.unsent.size() > kMaxUnsentBytes || !sendUnsent(peer)) return false;
        if (!reply.payload.empty()) break;
    }
    return true;
}

bool ControlServer::clientHasDisconnected() const {
    pollfd asker{current_client_, 0, 0};
    return current_client_ >= 0 && ::poll(&asker, 1, 0) > 0 && (asker.revents & (POLLHUP | POLLERR)) != 0;
}

bool ControlServer::servePeer(Peer& peer, short events, const Handler& handler) {
    if ((events & POLLOUT) != 0 && !sendUnsent(peer)) return false;
    if (!peer.pending.empty()) return answerPending(peer, handler);  // earlier requests first
    if (peer.closing) return (events & (POLLERR | POLLHUP)) == 0;
    if ((events & ~POLLOUT) == 0) return true;
    std::array<char, 4096> buffer;
    // A bounded number of reads, so that a peer that keeps sending cannot hold up the training.
    for (int reads = 0; reads < 32; ++reads) {
        const ssize_t got = ::recv(peer.descriptor.number(), buffer.data(), buffer.size(), 0);
        if (got == 0) {  // it may have closed only its sending side, and still read
            peer.closing = true;
            return sendUnsent(peer);
        }
        if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        const auto lines = peer.framer.add({buffer.data(), static_cast<std::size_t>(got)});
        if (!lines) {
            peer.unsent +=
                formatReply({"", false, "the message is too long; the connection is closed"}) + "\n";
            peer.closing = true;
            return sendUnsent(peer);
        }
        peer.pending.insert(peer.pending.end(), lines->begin(), lines->end());
        if (!answerPending(peer, handler)) return false;
        if (!peer.pending.empty()) return true;
    }
    return true;
}

}  // namespace roper
