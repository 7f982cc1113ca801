#include "core/distributed/process_group.h"

#include <ATen/ATen.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define USE_C10D_GLOO  // which the header asks for; LibTorch is built with it
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "core/base/error.h"
#include "core/base/file_path.h"
#include "core/base/text.h"
#include "core/base/this_process.h"

namespace roper {
namespace {

using namespace std::chrono_literals;

constexpr auto kGathering = 2min, kSumming = 30min;
constexpr auto kNoEnd = std::chrono::hours(24 * 365);  // evaluations and pauses take as long as they take
constexpr const char* kLoopback = "127.0.0.1";

/// A socket that listens, on a port that the system chooses. @throws Error (other)
int listeningSocket(bool this_machine, int& port) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(this_machine ? INADDR_LOOPBACK : INADDR_ANY);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (!socket || ::bind(socket.number(), generic, size) != 0 || ::listen(socket.number(), SOMAXCONN) != 0 ||
        ::getsockname(socket.number(), generic, &size) != 0)
        throw Error(ErrorKind::other,
                    std::string("cannot open a port for the other processes: ") + std::strerror(errno));
    port = ntohs(address.sin_port);
    return socket.release();
}

/// The first line of what LibTorch says.
std::string reasonOf(const std::exception& error) {
    const std::string text = error.what();
    return onOneLine(text.substr(0, std::min<std::size_t>(text.find('\n'), 300)));
}

template <class Work>
auto naming(ErrorKind kind, const std::string& what, Work work) {
    try {
        return work();
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        throw Error(kind, what + " (" + reasonOf(error) + ")");
    }
}

/// What Gloo does is done in the host's memory.
template <class Work>
void onHost(at::Tensor& numbers, Work work) {
    std::vector<at::Tensor> there{numbers.cpu()};
    work(there);
    if (!numbers.is_cpu()) numbers.copy_(there.front());
}

}  // namespace

struct ProcessGroup::Parts {
    MeetingPoint at;
    int rank = 0, size = 1;
    bool this_machine = true;
    c10::intrusive_ptr<c10d::TCPStore> store;
    c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;

    const std::string gone =
        "a process that trains this run together with this one is gone, or does not answer";
};

ProcessGroup::ProcessGroup(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

ProcessGroup::~ProcessGroup() = default;

std::unique_ptr<ProcessGroup> ProcessGroup::lead(int size, bool this_machine) {
    auto parts = std::make_unique<Parts>();
    parts->size = size;
    parts->this_machine = this_machine;
    c10d::TCPStoreOptions options;
    options.isServer = true;
    options.masterListenFd = listeningSocket(this_machine, parts->at.port);
    options.port = static_cast<std::uint16_t>(parts->at.port);
    options.waitWorkers = false;
    options.timeout = kGathering;
    parts->at.host = this_machine ? kLoopback : thisHost();
    naming(ErrorKind::other, "cannot wait for the other processes", [&] {
        parts->store = c10::make_intrusive<c10d::TCPStore>(this_machine ? kLoopback : "0.0.0.0", options);
    });
    return std::unique_ptr<ProcessGroup>(new ProcessGroup(std::move(parts)));
}

std::unique_ptr<ProcessGroup> ProcessGroup::join(const MeetingPoint& at, int rank, int size) {
    auto parts = std::make_unique<Parts>();
    parts->at = at;
    parts->rank = rank;
    parts->size = size;
    parts->this_machine = at.host == kLoopback;
    c10d::TCPStoreOptions options;
    options.port = static_cast<std::uint16_t>(at.port);
    options.waitWorkers = false;
    options.timeout = kGathering;
    naming(ErrorKind::other,
           "nobody leads a group of processes at " + at.host + ":" + std::to_string(at.port),
           [&] { parts->store = c10::make_intrusive<c10d::TCPStore>(at.host, options); });
    return std::unique_ptr<ProcessGroup>(new ProcessGroup(std::move(parts)));
}

void ProcessGroup::gather() {
    naming(ErrorKind::other,
           "not all of " + std::to_string(parts_->size) + " processes have come together within two minutes",
           [&] {
               auto options = c10d::ProcessGroupGloo::Options::create(kGathering);
               options->devices.push_back(
                   parts_->this_machine ? c10d::ProcessGroupGloo::createDeviceForHostname(kLoopback, false)
                                        : c10d::ProcessGroupGloo::createDefaultDevice(false));
               parts_->gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(parts_->store, parts_->rank,
                                                                          parts_->size, options);
           });
}

const MeetingPoint& ProcessGroup::meetingPoint() const {
    return parts_->at;
}

int ProcessGroup::rank() const {
    return parts_->rank;
}

int ProcessGroup::size() const {
    return parts_->size;
}

void ProcessGroup::set(const std::string& name, const std::string& text) {
    naming(ErrorKind::preempted, parts_->gone,
           [&] { parts_->store->set(name, std::vector<std::uint8_t>(text.begin(), text.end())); });
}

std::string ProcessGroup::get(const std::string& name) {
    return naming(ErrorKind::preempted, parts_->gone, [&] {
        const std::vector<std::uint8_t> bytes = parts_->store->get(name);
        return std::string(bytes.begin(), bytes.end());
    });
}

void ProcessGroup::sum(at::Tensor& numbers) {
    naming(ErrorKind::preempted, parts_->gone, [&] {
        c10d::AllreduceOptions options;
        options.timeout = kSumming;
        onHost(numbers,
               [&](std::vector<at::Tensor>& tensors) { parts_->gloo->allreduce(tensors, options)->wait(); });
    });
}

void ProcessGroup::share(at::Tensor& numbers) {
    naming(ErrorKind::preempted, parts_->gone, [&] {
        c10d::BroadcastOptions options;
        options.rootRank = 0;
        options.timeout = kNoEnd;
        onHost(numbers,
               [&](std::vector<at::Tensor>& tensors) { parts_->gloo->broadcast(tensors, options)->wait(); });
    });
}

}  // namespace roper
