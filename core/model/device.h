#pragma once

#include <c10/core/Device.h>

#include <string>

namespace roper {

struct OpenDevice {
    c10::Device device;
    std::string note;  ///< why "auto" took the CPU although there is a GPU; else empty
};

/// Turns "auto", "cpu", "cuda" or "cuda:N" into a device that can be used now. For CUDA, LibTorch's CUDA half
/// (libtorch_cuda.so) is opened first; "auto" takes it only where a driver and that library are, else the
/// CPU.
/// @throws Error (usage) saying what is missing and how to get it
OpenDevice openDevice(const std::string& name);

/// "cpu, 2 threads" or "cuda:0".
std::string describeDevice(const c10::Device& device);

}  // namespace roper
