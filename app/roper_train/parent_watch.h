#pragma once

#include <atomic>
#include <thread>

#include "core/base/file_path.h"

namespace roper {

/// Sees that the process which holds the other end of stdin has closed it or is gone. A program that is not
/// done a second later, whatever it waits for, is ended.
class ParentWatch {
  public:
    ParentWatch();
    ~ParentWatch();
    ParentWatch(const ParentWatch&) = delete;
    ParentWatch& operator=(const ParentWatch&) = delete;

    bool hasLeft() const { return has_left_; }

  private:
    void watch();

    std::atomic<bool> has_left_ = false;
    Descriptor wake_;  ///< an eventfd that ends the watching
    std::thread watcher_;
};

}  // namespace roper
