#include "core/training/batch_stream.h"

#include <ATen/ATen.h>
#include <sys/resource.h>
#include <unistd.h>

namespace roper {
namespace {

constexpr std::size_t kPrefetchedBatches = 3;
// Added to the nice value. Small: on a busy machine a step would otherwise wait long for its batch.
constexpr int kLowerPriority = 1;

}  // namespace

BatchStream::BatchStream(const Task& task, const Specification& specification, std::uint64_t first,
                         const std::optional<Shard>& shard)
    : task_(task),
      specification_(specification),
      next_(first),
      shard_(shard.value_or(Shard{0, specification.training.batch})),
      thread_([this] { work(); }) {}

BatchStream::~BatchStream() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void BatchStream::work() {
    // On Linux each thread has its own priority, set by its thread id.
    const auto thread = static_cast<id_t>(::gettid());
    ::setpriority(PRIO_PROCESS, thread, ::getpriority(PRIO_PROCESS, thread) + kLowerPriority);
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return ending_ || ready_.size() < kPrefetchedBatches; });
        if (ending_) return;
        lock.unlock();
        Batch batch;
        std::exception_ptr problem;
        try {
            batch = makeBatch(task_, specification_, Stream::training,
                              next_ + static_cast<std::uint64_t>(shard_.first), shard_.count);
        } catch (...) {
            problem = std::current_exception();
        }
        lock.lock();
        if (problem) {
            problem_ = problem;
            changed_.notify_all();
            return;
        }
        next_ += static_cast<std::uint64_t>(specification_.training.batch);
        ready_.push_back(std::move(batch));
        changed_.notify_all();
    }
}

Batch BatchStream::next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty() || problem_; });
    if (ready_.empty()) std::rethrow_exception(problem_);
    Batch batch = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return batch;
}

}  // namespace roper
