#pragma once

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>

namespace roper {

/// During its lifetime, GPU operations of this thread use a separate stream: the default stream cannot be
/// captured (Gpu::capture), and other streams would not wait for it. On the CPU it does nothing.
class DedicatedStream {
  public:
    explicit DedicatedStream(const c10::Device& device) {
        if (device.is_cpu()) return;
        guard_.emplace(c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device));
    }

  private:
    std::optional<c10::StreamGuard> guard_;
};

}  // namespace roper
