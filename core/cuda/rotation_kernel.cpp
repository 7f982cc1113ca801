#include "core/cuda/rotation_kernel.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "core/cuda/rotation_compiler.h"

namespace roper {

RotationKernel::RotationKernel(const std::string& architecture) {
    const std::vector<char> code = compileRotationKernel(architecture);
    cudaLibrary_t library = nullptr;
    C10_CUDA_CHECK(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    const auto kernel = [&](const char* name) {
        cudaKernel_t found = nullptr;
        C10_CUDA_CHECK(cudaLibraryGetKernel(&found, library, name));
        return static_cast<const void*>(found);
    };
    float32_ = kernel("rotate_float32");
    bfloat16_ = kernel("rotate_bfloat16");
}

void RotationKernel::launch(const std::vector<HeadRotation>& parts, Pairing pairing,
                            Direction direction) const {
    constexpr unsigned kThreads = 256;
    const at::Tensor& like = parts.front().from;
    auto job = makeRotationJob(parts, pairing, direction);
    const auto all = static_cast<std::size_t>(like.numel() / 2);
    const dim3 grid(static_cast<unsigned>((all + kThreads - 1) / kThreads),
                    static_cast<unsigned>(parts.size()));
    void* arguments[] = {&job};
    C10_CUDA_CHECK(cudaLaunchKernel(like.scalar_type() == at::kBFloat16 ? bfloat16_ : float32_, grid,
                                    kThreads, arguments, 0, c10::cuda::getCurrentCUDAStream()));
}

}  // namespace roper
