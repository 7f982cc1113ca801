#include "core/model/device.h"

#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>

#include <filesystem>
#include <optional>

#include "core/base/error.h"
#include "core/base/this_process.h"
#include "core/kernels/attention.h"
#include "core/operators/gpu.h"
#include "core/operators/products.h"

namespace roper {
namespace {

constexpr const char* kGetCuda =
    "Run ./lab setup --cuda to fetch LibTorch's CUDA libraries, or use the CPU (device.name = cpu).";

bool hasCudaDriver() {
    return std::filesystem::exists("/dev/nvidia0") || std::filesystem::exists("/dev/nvidiactl");
}

/// Opens libtorch_cuda.so, whose static initializers register CUDA with LibTorch. Returns an error message,
/// if any.
std::optional<std::string> openTorchCudaLibrary() {
    // RTLD_GLOBAL, since further libraries that it loads need its symbols.
    if (::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        const char* reason = ::dlerror();
        return std::string("LibTorch's CUDA libraries cannot be loaded (") +
               (reason ? reason : "unknown reason") + "). " + kGetCuda;
    }
    if (!at::detail::getCUDAHooks().hasCUDA())
        return "LibTorch's CUDA libraries are installed, but no NVIDIA driver or GPU responds. Check "
               "nvidia-smi, or use the CPU (device.name = cpu).";
    return std::nullopt;
}

/// Opens our library for a GPU. Returns an error message, if any; LibTorch's operations work without it.
std::optional<std::string> openRoperCudaLibrary(const c10::Device& device) {
    const std::filesystem::path path = libraryPath("libroper_cuda.so");
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return ::dlerror();
    const auto open = reinterpret_cast<OpenGpuFunction>(::dlsym(library, "roper_open_gpu"));
    if (open == nullptr) return ::dlerror();
    try {
        // Never deleted: the driver may be unloaded before this library's variables are destroyed.
        useGpu(std::shared_ptr<Gpu>(open(device.index()), [](Gpu*) {}));
    } catch (const std::exception& error) {
        return error.what();
    }
    return std::nullopt;
}

c10::Device cudaDevice(const std::string& name, int process) {
    const c10::Device device(name);
    const int count = at::detail::getCUDAHooks().deviceCount();
    if (device.has_index() && device.index() >= count)
        throw Error(ErrorKind::usage, "device not found: " + name + "; this machine has " +
                                          std::to_string(count) + " GPU(s), numbered from 0");
    return device.has_index() ? device
                              : c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(process % count));
}

}  // namespace

OpenedDevice openDevice(const std::string& name, bool plain, int process) {
    useGpu(nullptr);
    if (name == "cpu") return {c10::kCPU, ""};
    if (name == "auto") {
        if (!hasCudaDriver()) return {c10::kCPU, ""};
        if (const auto problem = openTorchCudaLibrary())
            return {c10::kCPU, "training on the CPU: " + *problem};
    } else if (const auto problem = openTorchCudaLibrary()) {
        throw Error(ErrorKind::usage, *problem);
    }
    const c10::Device device = cudaDevice(name == "auto" ? "cuda" : name, process);
    if (plain) return {device, ""};
    const auto problem = openRoperCudaLibrary(device);
    return {device, problem ? "training without our own CUDA kernels, so slower: " + *problem : ""};
}

bool multipliesBFloat16(const c10::Device& device) {
    if (device.is_cpu()) return kernelsMultiplyBFloat16() && oneDnnMultipliesBFloat16();
    return gpu() != nullptr && gpu()->multipliesBFloat16();
}

std::string describeDevice(const c10::Device& device) {
    if (device.is_cpu()) return "cpu, " + std::to_string(at::get_num_threads()) + " threads";
    return gpu() != nullptr ? device.str() + ", " + gpu()->name() : device.str();
}

}  // namespace roper
