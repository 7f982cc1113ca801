#pragma once

#include <c10/core/Device.h>

#include <string>

#include "core/specification/specification.h"

namespace roper {

struct OpenedDevice {
    c10::Device device;
    /// Why a slower choice was made, such as the CPU although there is a GPU; empty if none was.
    std::string note;
};

/// Opens the device "auto", "cpu", "cuda" or "cuda:N". For CUDA, LibTorch's CUDA library (libtorch_cuda.so)
/// is loaded first; "auto" uses it only if a driver and that library exist, otherwise the CPU. Our own
/// libroper_cuda.so is then available as `gpu()`.
/// @param plain    use only LibTorch's operations: `device.kernel`
/// @param process  index among several on this machine; if no GPU is named, each uses the next one, starting
/// again after the last
/// @throws Error (usage) saying what is missing and how to get it
OpenedDevice openDevice(const std::string& name, bool plain = false, int process = 0);

/// The device that a specification requests.
inline OpenedDevice openDevice(const Specification::Device& device, int process = 0) {
    return openDevice(device.name, device.kernel == "plain", process);
}

/// Whether a device has instructions for bfloat16 products; on a CPU oneDNN must also support them.
bool multipliesBFloat16(const c10::Device& device);

/// "cpu, 2 threads" or "cuda:0, NVIDIA H200".
std::string describeDevice(const c10::Device& device);

}  // namespace roper
