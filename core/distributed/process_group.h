#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/distributed/address.h"

namespace roper {

/// Processes that compute together by LibTorch's c10d with Gloo, over TCP. All of them call the collective
/// functions in the same order. Rank 0 leads.
///
/// What they tell each other before they are connected carries a code that only they can make
/// (`Address::key`), so that another user of the machine cannot say what is trained; the connections
/// themselves, by which gradients travel, are neither encrypted nor authenticated. A group of one machine
/// listens on its loopback alone. Several machines use the interfaces that GLOO_SOCKET_IFNAME names ("ib0",
/// "ib0,ib1"), else the one that this host's name resolves to.
class ProcessGroup {
  public:
    /// A group that others join. The group is there once all have (`connect`).
    /// @param size          processes, with this one
    /// @param this_machine  whether all are on this machine
    /// @throws Error (other) if no port can be opened
    static std::unique_ptr<ProcessGroup> lead(int size, bool this_machine);

    /// Takes part as `rank`, 1 … size − 1. @throws Error (other) if nobody leads there
    static std::unique_ptr<ProcessGroup> join(const Address& at, int rank, int size);

    ~ProcessGroup();

    /// Connects all, who call this at about the same time. @throws Error (other) after two minutes
    void connect();

    const Address& address() const;
    int rank() const;
    int size() const;

    // A text under a name, from one to all the others, before `connect` or after it. `get` waits for it, for
    // at most two minutes. @throws Error (preempted) if rank 0 is gone

    void set(const std::string& name, const std::string& text);
    std::string get(const std::string& name);
    bool has(const std::string& name);

    /// Tells rank 0 why this process ends: whatever rank 0 waits for then throws this error.
    void reportFailure(const Error& error);
    /// In rank 0: @throws Error the one that another process has reported, if one has.
    void throwReportedFailure();

    // On tensors of the same shape and type in every process, in place; those of a GPU go by way of the
    // host's memory. @throws Error (preempted) if a process is gone, or does not answer for half an hour; in
    // rank 0 what that process has reported, if it has

    /// Their sum, in every process the same.
    void allReduce(at::Tensor& numbers);
    /// Those of rank 0, for which the others wait as long as it takes.
    void broadcast(at::Tensor& numbers);

  private:
    struct Parts;
    explicit ProcessGroup(std::unique_ptr<Parts> parts);
    std::string read(const std::string& name);
    template <class Work>
    auto orReportedFailure(Work work);
    template <class Work>
    void collectively(at::Tensor& numbers, Work work);
    std::unique_ptr<Parts> parts_;
};

}  // namespace roper
