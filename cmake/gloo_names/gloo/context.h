#pragma once

// LibTorch's packages hold Gloo itself but none of its headers. These name what LibTorch's own header of
// ProcessGroupGloo mentions; nothing of Gloo is called, made or derived from here but by LibTorch's library.

#include <chrono>

namespace gloo {

class Context {
  public:
    void setTimeout(std::chrono::milliseconds timeout);
};

namespace transport {
class Device;
class UnboundBuffer {
  public:
    virtual ~UnboundBuffer();
};
}  // namespace transport

}  // namespace gloo
