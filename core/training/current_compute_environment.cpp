#include "core/training/current_compute_environment.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

#include "core/base/machine_load.h"
#include "core/base/this_process.h"
#include "core/kernels/attention.h"
#include "core/model/device.h"
#include "core/operators/products.h"

namespace roper {
namespace {

std::string nameOf(at::ScalarType type) {
    if (type == at::kBFloat16) return "bfloat16";
    return type == at::kDouble ? "float64" : "float32";
}

}  // namespace

ComputeEnvironment currentComputeEnvironment(const Transformer& model, const c10::Device& device) {
    const bool ours = model.usesKernels();
    ComputeEnvironment c;
    c.device = device.is_cpu() ? "cpu" : describeDevice(device);
    c.processor = processorName();
    c.kernel = ours ? "ours" : "LibTorch";
    c.instruction_set = ours ? kernelTarget() : "";
    c.matrix_products = ours && reasonWithoutOneDnn().empty() ? oneDnnVersion() : "LibTorch";
    c.precision = nameOf(model.computeType());
    c.threads = at::get_num_threads();
    c.libtorch = TORCH_VERSION;
    c.program = programVersion();
    c.commit = programCommit();
    return c;
}

}  // namespace roper
