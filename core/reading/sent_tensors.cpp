#include "core/reading/sent_tensors.h"

#include <ATen/ATen.h>

#include <span>

#include "core/base/safetensors.h"

namespace roper {

std::string sentTensors(const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                        const std::map<std::string, std::string>& metadata) {
    std::vector<at::Tensor> kept;  // what the bytes belong to
    std::vector<TensorToWrite> written;
    for (const auto& [name, tensor] : tensors) {
        const bool is_whole = at::isIntegralType(tensor.scalar_type(), /*includeBool=*/false);
        kept.push_back(tensor.to(at::kCPU, is_whole ? at::kLong : at::kFloat).contiguous());
        written.push_back({name, is_whole ? Dtype::I64 : Dtype::F32, kept.back().sizes().vec(),
                           std::as_bytes(std::span(static_cast<const char*>(kept.back().const_data_ptr()),
                                                   kept.back().nbytes()))});
    }
    return formatSafetensors(written, metadata);
}

}  // namespace roper
