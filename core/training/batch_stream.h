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

/// Which sequences of every batch are wanted.
struct Shard {
    std::int64_t first = 0, count = 0;
};

/// The batches of training in their order, made ahead by a thread of lower priority. They are those of
/// `makeBatch`: a batch follows from seeds and its place alone.
class BatchStream {
  public:
    /// @param task, specification  must outlive the stream
    /// @param first                number of the first batch's first sequence
    /// @param shard                of every batch; all of it if not given
    BatchStream(const Task& task, const Specification& specification, std::uint64_t first,
                const std::optional<Shard>& shard = {});
    ~BatchStream();
    BatchStream(const BatchStream&) = delete;
    BatchStream& operator=(const BatchStream&) = delete;

    /// The next batch; waits if it is not there yet. @throws whatever making it threw
    Batch next();

  private:
    void work();

    const Task& task_;
    const Specification& specification_;
    std::uint64_t next_;
    Shard shard_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Batch> ready_;
    std::exception_ptr problem_;
    bool ending_ = false;
    std::thread thread_;  ///< last: it uses everything above
};

}  // namespace roper
