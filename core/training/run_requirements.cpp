#include "core/training/run_requirements.h"

#include <string>

#include "core/base/available.h"
#include "core/base/error.h"
#include "core/operators/gpu.h"
#include "core/specification/cost.h"

namespace roper {

std::optional<double> freeMemoryFor(const Specification& specification) {
    const bool on_gpu = gpu() != nullptr && specification.device.name != "cpu";
    return on_gpu ? std::optional(gpu()->memory().free) : availableMemory();
}

void requireMemory(const Specification& specification) {
    const std::optional<double> available = freeMemoryFor(specification);
    if (!available) return;
    if (const auto problem = memoryProblem(specification, *available))
        throw Error(ErrorKind::memory, *problem);
}

void requireSequencePerProcess(const Specification& specification, std::int64_t processes) {
    if (processes > specification.training.batch)
        throw Error(ErrorKind::usage, std::to_string(processes) + " processes cannot share a batch of " +
                                          std::to_string(specification.training.batch) + " (training.batch)");
}

}  // namespace roper
