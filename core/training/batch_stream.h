#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "core/specification/specification.h"
#include "core/tasks/task.h"
#include "core/training/batches.h"

namespace roper {

/// The sequences of every batch that one process computes: `count` of them, from index `first` on.
struct Shard {
    std::int64_t first = 0, count = 0;
};

/// Produces the training batches of `makeBatch` in order, ahead of time in a low-priority thread. A batch
/// depends only on the seeds and its index.
class BatchStream {
  public:
    /// @param task, specification  must outlive the stream
    /// @param first                index of the first batch's first sequence
    /// @param shard                the part of every batch to produce; default: all of it
    BatchStream(const Task& task, const Specification& specification, std::uint64_t first,
                const std::optional<Shard>& shard = {});
    ~BatchStream();
    BatchStream(const BatchStream&) = delete;
    BatchStream& operator=(const BatchStream&) = delete;

    /// The next batch; waits until it is ready. @throws any exception from making it
    Batch next();

  private:
    void work();

    const Task& task_;
    const Specification& specification_;
    std::uint64_t next_;  ///< index of the first sequence of the next batch to produce
    Shard shard_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Batch> ready_;
    std::exception_ptr problem_;
    bool ending_ = false;
    std::thread thread_;  ///< last member: the thread uses all members above
};

}  // namespace roper
