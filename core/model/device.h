#pragma once

#include <c10/core/Device.h>

#include <string>

#include "core/specification/specification.h"

namespace roper {

struct OpenDevice {
    c10::Device device;
    std::string note;  ///< what is not as it could be: why "auto" took the CPU although there is a GPU, …
};

/// Makes of "auto", "cpu", "cuda" or "cuda:N" a device that can be used now. For CUDA, LibTorch's CUDA half
/// (libtorch_cuda.so) is opened first; "auto" takes it only where a driver and that library are, else the
/// CPU. With it goes our own half, libroper_cuda.so, as `gpu()`.
/// @param plain    LibTorch's operations alone are wanted: `device.kernel`
/// @param process  of several on this machine, each of which takes the next GPU where none is named, and
/// again
///                 the first after the last
/// @throws Error (usage) saying what is missing and how to get it
OpenDevice openDevice(const std::string& name, bool plain = false, int process = 0);

/// What a specification asks for.
inline OpenDevice openDevice(const Specification::Device& device, int process = 0) {
    return openDevice(device.name, device.kernel == "plain", process);
}

/// Whether a device has instructions for products of bfloat16; of a CPU also oneDNN must know them.
bool multipliesBFloat16(const c10::Device& device);

/// "cpu, 2 threads" or "cuda:0, NVIDIA H200".
std::string describeDevice(const c10::Device& device);

}  // namespace roper
