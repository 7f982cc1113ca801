#include "core/operators/tensor_data.h"

#include <ATen/ATen.h>

#include <stdexcept>

namespace roper {

Dtype dtypeOf(const at::Tensor& tensor) {
    switch (tensor.scalar_type()) {
        case at::kByte:
            return Dtype::U8;
        case at::kLong:
            return Dtype::I64;
        case at::kDouble:
            return Dtype::F64;
        case at::kFloat:
            return Dtype::F32;
        default:
            throw std::invalid_argument("tensors of this type cannot be written to a file");
    }
}

TensorsToWrite::TensorsToWrite(const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
    for (const auto& [name, tensor] : tensors)
        add(name, tensor.to(at::isIntegralType(tensor.scalar_type(), /*includeBool=*/false) ? at::kLong
                                                                                            : at::kFloat));
}

void TensorsToWrite::add(const std::string& name, const at::Tensor& tensor) {
    const at::Tensor plain = tensor.detach().to(at::kCPU).contiguous();
    kept_.push_back(plain);
    views_.push_back({name,
                      dtypeOf(plain),
                      plain.sizes().vec(),
                      {static_cast<const std::byte*>(plain.const_data_ptr()), plain.nbytes()}});
}

std::string serializeTensors(const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                             const std::map<std::string, std::string>& metadata) {
    return formatSafetensors(TensorsToWrite(tensors).views(), metadata);
}

}  // namespace roper
