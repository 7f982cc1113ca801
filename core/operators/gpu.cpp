#include "core/operators/gpu.h"

#include <utility>

namespace roper {
namespace {

std::shared_ptr<Gpu> current_gpu;

}  // namespace

Gpu* gpu() {
    return current_gpu.get();
}

void useGpu(std::shared_ptr<Gpu> gpu) {
    current_gpu = std::move(gpu);
}

}  // namespace roper
