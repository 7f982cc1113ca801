#include "core/training/probes.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "core/model/generation.h"
#include "core/runs/safetensors.h"
#include "core/runs/text.h"

namespace roper {

namespace {

/// The answer itself; the request has been checked.
Reply readHead(Transformer& model, const Vocabulary& vocabulary, const Specification& specification,
               std::int64_t step, const Request& request) {
    const at::NoGradGuard no_gradients;
    const at::Device device = model.parameters().front().second.device();
    const at::Tensor tokens = encodePadded(vocabulary, {request.text});
    const at::Tensor qkv = model.headVectors(tokens.to(device), request.layer, request.head)
                               .to(at::kCPU, at::kFloat)
                               .contiguous();
    const at::Tensor token_list = tokens.flatten().contiguous();
    const auto bytes = [](const at::Tensor& tensor) {
        return std::span(static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes());
    };
    std::vector<TensorToWrite> tensors;
    for (const auto& [name, index] : {std::pair{"q", 0}, {"k", 1}, {"v", 2}})
        tensors.push_back({name, Dtype::F32, {qkv.size(1), qkv.size(2)}, bytes(qkv.select(0, index))});
    tensors.push_back({"tokens", Dtype::I64, {token_list.size(0)}, bytes(token_list)});
    const auto& m = specification.model;
    const std::map<std::string, std::string> metadata = {
        {"step", std::to_string(step)},
        {"text", request.text},
        {"position", m.position},
        {"pairing", m.pairing},
        {"schedule", m.schedule},
        {"base", formatNumber(m.base)},
        {"rotary_fraction", formatNumber(m.rotary_fraction)},
        {"value_rotary_fraction", formatNumber(m.value_rotary_fraction)},
        {"layers", std::to_string(m.layers)},
        {"heads", std::to_string(m.heads)}};
    return {"", true, "step " + std::to_string(step), formatSafetensors(tensors, metadata)};
}

}  // namespace

Reply answerHead(Transformer& model, const Vocabulary& vocabulary, const Specification& specification,
                 std::int64_t step, const Request& request) {
    if (request.text.empty()) throw std::invalid_argument("the model needs a text to read");
    if (request.text.size() > kLongestProbe)
        throw std::invalid_argument("the text has " + std::to_string(request.text.size()) +
                                    " bytes; the longest is " + std::to_string(kLongestProbe));
    try {
        return readHead(model, vocabulary, specification, step, request);
    } catch (const c10::Error& error) {  // its own text carries a backtrace
        throw std::runtime_error(error.what_without_backtrace());
    }
}

}  // namespace roper
