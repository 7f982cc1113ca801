#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "core/base/error.h"

namespace roper {

/// Where rank 0 of a group listens for the others.
struct Address {
    std::string host;
    int port = 0;
    std::string key = {};  ///< secret of the group, by which its processes authenticate messages

    /// "node3:4711".
    std::string text() const { return host + ":" + std::to_string(port); }
};

/// A group of processes that compute together over TCP, by the Gloo backend of c10d, LibTorch's library for
/// distributed computing. All of them must call the collective functions in the same order. Rank 0 leads.
///
/// Messages before `connect` are authenticated by the group's key (`Address::key`), so that another user
/// of the machine cannot change what is trained. The connections that carry gradients are neither encrypted
/// nor authenticated. A group on one machine listens only on the loopback interface. Several machines use the
/// interfaces named by GLOO_SOCKET_IFNAME ("ib0", "ib0,ib1"), or else the one to which this host's name
/// resolves.
class ProcessGroup {
  public:
    /// Creates a group that others join. It is ready once all have called `connect`.
    /// @param size          number of processes, including this one
    /// @param is_single_machine  whether all are on this machine
    /// @throws Error (other) if no port can be opened
    static std::unique_ptr<ProcessGroup> create(int size, bool is_single_machine);

    /// Joins as `rank`, 1 … size − 1. @throws Error (other) if no process leads a group there
    static std::unique_ptr<ProcessGroup> join(const Address& at, int rank, int size);

    ~ProcessGroup();

    /// Connects all processes, which must call this at about the same time. @throws Error (other) after two
    /// minutes
    void connect();

    const Address& address() const;
    int rank() const;
    int size() const;

    // Named texts that one process publishes to all others, before or after `connect`. `get` waits up to two
    // minutes for the text. @throws Error (preempted) if rank 0 is gone

    void set(const std::string& name, const std::string& text);
    std::string get(const std::string& name);
    bool has(const std::string& name);

    /// Tells rank 0 why this process ends; the call in which rank 0 is waiting then throws this error.
    void reportFailure(const Error& error);
    /// In rank 0: throws the error that another process has reported, if any.
    void throwReportedFailure();

    // For tensors of the same shape and type in every process, in place; tensors on a GPU are copied through
    // host memory. @throws Error (preempted) if a process is gone or does not answer for half an hour; in
    // rank 0, the error that this process has reported, if any

    /// Sums the tensors; the result is identical in every process.
    void allReduce(at::Tensor& tensor);
    /// Copies the tensor of rank 0. The others wait for it without a time limit.
    void broadcast(at::Tensor& tensor);

  private:
    struct Impl;
    explicit ProcessGroup(std::unique_ptr<Impl> impl);
    std::string read(const std::string& name);
    template <class Work>
    auto runOrThrowReportedFailure(Work work);
    template <class Work>
    void runCollective(at::Tensor& tensor, Work work);
    std::unique_ptr<Impl> impl_;
};

}  // namespace roper
