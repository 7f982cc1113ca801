#include "core/model/device.h"

#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>

#include <filesystem>
#include <optional>

#include "core/runs/error.h"

namespace roper {
namespace {

constexpr const char* kGetCuda =
    "Run `./lab setup --cuda` to fetch LibTorch's CUDA half, or train with --device cpu.";

bool driverIsThere() {
    return std::filesystem::exists("/dev/nvidia0") || std::filesystem::exists("/dev/nvidiactl");
}

/// Opens libtorch_cuda.so, whose static initialisers register CUDA with LibTorch. Returns what went wrong, if
/// so.
std::optional<std::string> openCudaHalf() {
    // RTLD_GLOBAL, because further libraries that it opens look for its symbols.
    if (::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        const char* reason = ::dlerror();
        return std::string("LibTorch's CUDA half cannot be opened (") + (reason ? reason : "unknown reason") +
               "). " + kGetCuda;
    }
    if (!at::detail::getCUDAHooks().hasCUDA())
        return "LibTorch's CUDA half is there, but no NVIDIA driver or GPU answers. Check `nvidia-smi`, or "
               "train with "
               "--device cpu.";
    return std::nullopt;
}

c10::Device cudaDevice(const std::string& name) {
    const c10::Device device(name);
    const int count = at::detail::getCUDAHooks().deviceCount();
    if (device.has_index() && device.index() >= count)
        throw Error(ErrorKind::usage, "there is no " + name + ": this machine has " + std::to_string(count) +
                                          " GPU(s), numbered from 0");
    return device.has_index() ? device : c10::Device(c10::kCUDA, 0);
}

}  // namespace

OpenDevice openDevice(const std::string& name) {
    if (name == "cpu") return {c10::kCPU, ""};
    if (name == "auto") {
        if (!driverIsThere()) return {c10::kCPU, ""};
        if (const auto problem = openCudaHalf()) return {c10::kCPU, "training on the CPU: " + *problem};
        return {cudaDevice("cuda:0"), ""};
    }
    if (const auto problem = openCudaHalf()) throw Error(ErrorKind::usage, *problem);
    return {cudaDevice(name), ""};
}

std::string describeDevice(const c10::Device& device) {
    if (device.is_cpu()) return "cpu, " + std::to_string(at::get_num_threads()) + " threads";
    return device.str();
}

}  // namespace roper
