#include "core/training/method_report.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <string>

namespace roper {
namespace {

at::Tensor detachedOnCpu(const at::Tensor& tensor) {
    return tensor.detach().to(at::kCPU, at::kDouble).contiguous();
}

void addFrequencies(const std::string& quantity, const std::vector<at::Tensor>& of_layers, std::int64_t step,
                    std::vector<MethodRow>& rows) {
    for (std::size_t layer = 0; layer < of_layers.size(); ++layer) {
        const at::Tensor values = detachedOnCpu(of_layers[layer]);
        for (std::int64_t pair = 0; pair < values.size(0); ++pair)
            rows.push_back(
                {step, quantity, static_cast<std::int64_t>(layer), {}, pair, values[pair].item<double>()});
    }
}

}  // namespace

std::vector<MethodRow> methodReport(Transformer& model, const at::Tensor& tokens, std::int64_t step) {
    const at::NoGradGuard no_gradients;
    std::vector<MethodRow> rows;
    const Positions& positions = model.positions();
    addFrequencies("query_key_frequency", positions.queryKeyFrequencies(), step, rows);
    addFrequencies("value_frequency", positions.valueFrequencies(), step, rows);
    if (positions.relativeBias().defined()) {
        const at::Tensor bias = detachedOnCpu(positions.relativeBias());  // [buckets, H]
        for (std::int64_t head = 0; head < bias.size(1); ++head)
            for (std::int64_t bucket = 0; bucket < bias.size(0); ++bucket)
                rows.push_back({step, "relative_bias", {}, head, bucket, bias[bucket][head].item<double>()});
    }
    const at::Tensor denominators = model.minNormalizers(tokens);  // [L, H]
    if (!denominators.defined()) return rows;
    const at::Tensor least = detachedOnCpu(denominators);
    for (std::int64_t layer = 0; layer < least.size(0); ++layer)
        for (std::int64_t head = 0; head < least.size(1); ++head)
            rows.push_back({step, "least_denominator", layer, head, {}, least[layer][head].item<double>()});
    return rows;
}

}  // namespace roper
