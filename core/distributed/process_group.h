#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

namespace roper {

/// Where the processes of a group find its first one.
struct MeetingPoint {
    std::string host;
    int port = 0;
};

/// Processes that compute together, by LibTorch's c10d with Gloo: over TCP. All of them call the same
/// functions in the same order. Rank 0 leads.
///
/// Who reaches the port can take part: nothing of it is encrypted or asks for a password. A group of one
/// machine listens on its loopback alone.
class ProcessGroup {
  public:
    /// A group that others join. The group is there once all have (`gather`).
    /// @param size          processes, with this one
    /// @param this_machine  whether all are on this machine
    /// @throws Error (other) if no port can be opened
    static std::unique_ptr<ProcessGroup> lead(int size, bool this_machine);

    /// Takes part as `rank`, 1 … size − 1. @throws Error (other) if nobody leads there
    static std::unique_ptr<ProcessGroup> join(const MeetingPoint& at, int rank, int size);

    ~ProcessGroup();

    /// Waits until all are there, for at most two minutes. @throws Error (other) naming how many are missing
    void gather();

    const MeetingPoint& meetingPoint() const;
    int rank() const;
    int size() const;

    // A text under a name, from one to all the others, before `gather` or after it.
    void set(const std::string& name, const std::string& text);
    std::string get(const std::string& name);

    // On tensors of the same shape and type in every process, in place; those of a GPU go by way of the
    // host's memory. @throws Error (preempted) if a process is gone, or does not answer for half an hour.

    /// Their sum, in every process the same.
    void sum(at::Tensor& numbers);
    /// Those of rank 0. Waits as long as rank 0 takes.
    void share(at::Tensor& numbers);

  private:
    struct Parts;
    explicit ProcessGroup(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace roper
