#pragma once

#include <atomic>
#include <thread>

#include "core/base/file_path.h"

namespace roper {

/// Detects that the process at the other end of stdin has closed it or ended. If the program is still running
/// a second later, even blocked, it is ended.
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
