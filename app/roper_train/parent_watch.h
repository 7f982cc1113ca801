#pragma once

#include <atomic>
#include <thread>

#include "core/base/file_path.h"

namespace roper {

/// Detects that the process at the other end of stdin has ended or closed it. If this object still exists a
/// second later, the program exits, even if its other threads are blocked.
class ParentWatch {
  public:
    ParentWatch();
    ~ParentWatch();
    ParentWatch(const ParentWatch&) = delete;
    ParentWatch& operator=(const ParentWatch&) = delete;

    bool hasExited() const { return has_exited_; }

  private:
    void watch();

    std::atomic<bool> has_exited_ = false;
    Descriptor wake_;  ///< eventfd that ends the watching thread
    std::thread watcher_;
};

}  // namespace roper
