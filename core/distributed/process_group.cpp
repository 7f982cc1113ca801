#include "core/distributed/process_group.h"

#include <ATen/ATen.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define USE_C10D_GLOO  // required by the headers; LibTorch is built with it
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "core/base/cryptography.h"
#include "core/base/file_path.h"
#include "core/base/text.h"
#include "core/base/this_process.h"
#include "core/distributed/authenticated_store.h"

namespace roper {
namespace {

using namespace std::chrono_literals;

constexpr auto kConnecting = 2min, kComputing = 30min;  // timeouts
constexpr std::chrono::milliseconds kNoTimeout =
    std::chrono::hours(24 * 365);  // evaluations and pauses may take any time
constexpr const char* kLoopback = "127.0.0.1";
constexpr const char* kInterfaces = "GLOO_SOCKET_IFNAME";
constexpr const char* kFailure = "failure";

/// Opens a listening socket on a port chosen by the system. @throws Error (other)
int listeningSocket(bool is_single_machine, int& port) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(is_single_machine ? INADDR_LOOPBACK : INADDR_ANY);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (!socket || ::bind(socket.number(), generic, size) != 0 || ::listen(socket.number(), SOMAXCONN) != 0 ||
        ::getsockname(socket.number(), generic, &size) != 0)
        throw Error(ErrorKind::other,
                    std::string("cannot open a port for the other processes: ") + std::strerror(errno));
    port = ntohs(address.sin_port);
    return socket.release();
}

/// The first line of LibTorch's message.
std::string reasonOf(const std::exception& error) {
    const std::string text = error.what();
    return toSingleLine(text.substr(0, std::min<std::size_t>(text.find('\n'), 300)));
}

/// Calls `work` and throws an Error of this kind in place of any exception of LibTorch.
template <class Work>
auto runOrThrow(ErrorKind kind, const std::string& what, Work work) {
    try {
        return work();
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        throw Error(kind, what + " (" + reasonOf(error) + ")");
    }
}

using Devices = std::vector<std::shared_ptr<::gloo::transport::Device>>;

Devices devicesFor(bool is_single_machine) {
    using c10d::ProcessGroupGloo;
    if (is_single_machine) return {ProcessGroupGloo::createDeviceForHostname(kLoopback, false)};
    Devices devices;
    for (const std::string& interface : split(environmentVariable(kInterfaces), ','))
        if (!trimmed(interface).empty())
            devices.push_back(ProcessGroupGloo::createDeviceForInterface(trimmed(interface), false));
    if (devices.empty()) devices.push_back(ProcessGroupGloo::createDefaultDevice(false));
    return devices;
}

c10::intrusive_ptr<AuthenticatedStore> storeAt(const std::string& host, const c10d::TCPStoreOptions& options,
                                               const std::string& key) {
    return c10::make_intrusive<AuthenticatedStore>(c10::make_intrusive<c10d::TCPStore>(host, options), key);
}

}  // namespace

struct ProcessGroup::Impl {
    Address at;
    int rank = 0, size = 1;
    bool is_single_machine = true;
    c10::intrusive_ptr<AuthenticatedStore> store;
    c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;

    const std::string gone = "another process of this run has ended or does not respond";
};

template <class Work>
auto ProcessGroup::runOrThrowReportedFailure(Work work) {
    try {
        return work();
    } catch (const Error&) {
        throwReportedFailure();
        throw;
    }
}

ProcessGroup::ProcessGroup(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ProcessGroup::~ProcessGroup() = default;

std::unique_ptr<ProcessGroup> ProcessGroup::create(int size, bool is_single_machine) {
    auto impl = std::make_unique<Impl>();
    impl->size = size;
    impl->is_single_machine = is_single_machine;
    c10d::TCPStoreOptions options;
    options.isServer = true;
    options.masterListenFd = listeningSocket(is_single_machine, impl->at.port);
    options.port = static_cast<std::uint16_t>(impl->at.port);
    options.waitWorkers = false;
    options.timeout = kConnecting;
    impl->at.host = is_single_machine ? kLoopback : thisHost();
    impl->at.key = randomKey();
    runOrThrow(ErrorKind::other, "cannot wait for the other processes", [&] {
        impl->store = storeAt(is_single_machine ? kLoopback : "0.0.0.0", options, impl->at.key);
    });
    return std::unique_ptr<ProcessGroup>(new ProcessGroup(std::move(impl)));
}

std::unique_ptr<ProcessGroup> ProcessGroup::join(const Address& at, int rank, int size) {
    auto impl = std::make_unique<Impl>();
    impl->at = at;
    impl->rank = rank;
    impl->size = size;
    impl->is_single_machine = at.host == kLoopback;
    c10d::TCPStoreOptions options;
    options.port = static_cast<std::uint16_t>(at.port);
    options.waitWorkers = false;
    options.timeout = kConnecting;
    runOrThrow(ErrorKind::other, "no process leads a group at " + at.text(),
               [&] { impl->store = storeAt(at.host, options, at.key); });
    return std::unique_ptr<ProcessGroup>(new ProcessGroup(std::move(impl)));
}

void ProcessGroup::connect() {
    const std::string network = impl_->is_single_machine
                                    ? std::string()
                                    : std::string("; if host names resolve to the wrong network, set ") +
                                          kInterfaces + " to the interface to use";
    runOrThrowReportedFailure([&] {
        runOrThrow(ErrorKind::other,
                   "cannot connect the " + std::to_string(impl_->size) + " processes" + network, [&] {
                       auto options = c10d::ProcessGroupGloo::Options::create(kConnecting);
                       options->devices = devicesFor(impl_->is_single_machine);
                       impl_->gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(impl_->store, impl_->rank,
                                                                                 impl_->size, options);
                   });
    });
}

const Address& ProcessGroup::address() const {
    return impl_->at;
}

int ProcessGroup::rank() const {
    return impl_->rank;
}

int ProcessGroup::size() const {
    return impl_->size;
}

void ProcessGroup::set(const std::string& name, const std::string& text) {
    runOrThrow(ErrorKind::preempted, impl_->gone,
               [&] { impl_->store->set(name, std::vector<std::uint8_t>(text.begin(), text.end())); });
}

std::string ProcessGroup::get(const std::string& name) {
    return runOrThrowReportedFailure([&] { return read(name); });
}

std::string ProcessGroup::read(const std::string& name) {
    return runOrThrow(ErrorKind::preempted, impl_->gone, [&] {
        const std::vector<std::uint8_t> bytes = impl_->store->get(name);
        return std::string(bytes.begin(), bytes.end());
    });
}

bool ProcessGroup::has(const std::string& name) {
    return runOrThrow(ErrorKind::preempted, impl_->gone, [&] { return impl_->store->check({name}); });
}

void ProcessGroup::reportFailure(const Error& error) {
    try {
        set(kFailure, std::to_string(error.exitCode()) + " " + error.what());
        read(kFailure);  // it exists now
    } catch (const Error&) {
        // Rank 0 is gone, too.
    }
}

void ProcessGroup::throwReportedFailure() {
    if (impl_->rank != 0 || !has(kFailure)) return;
    const std::string failure = read(kFailure);
    const std::size_t blank = failure.find(' ');
    const auto kind = parseInteger(failure.substr(0, blank)).value_or(static_cast<int>(ErrorKind::other));
    throw Error(static_cast<ErrorKind>(kind), failure.substr(blank + 1));
}

/// Gloo works on host memory.
template <class Work>
void ProcessGroup::runCollective(at::Tensor& tensor, Work work) {
    std::vector<at::Tensor> host_tensors{tensor.cpu()};
    runOrThrowReportedFailure(
        [&] { runOrThrow(ErrorKind::preempted, impl_->gone, [&] { work(host_tensors)->wait(); }); });
    if (!tensor.is_cpu()) tensor.copy_(host_tensors.front());
}

void ProcessGroup::allReduce(at::Tensor& tensor) {
    c10d::AllreduceOptions options;
    options.timeout = kComputing;
    runCollective(tensor, [&](std::vector<at::Tensor>& host_tensors) {
        return impl_->gloo->allreduce(host_tensors, options);
    });
}

void ProcessGroup::broadcast(at::Tensor& tensor) {
    c10d::BroadcastOptions options;
    options.rootRank = 0;
    options.timeout = impl_->rank == 0 ? std::chrono::milliseconds(kComputing) : kNoTimeout;
    runCollective(tensor, [&](std::vector<at::Tensor>& host_tensors) {
        return impl_->gloo->broadcast(host_tensors, options);
    });
}

}  // namespace roper
