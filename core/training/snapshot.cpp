#include "core/training/snapshot.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <string>

#include "core/base/file_path.h"
#include "core/base/text.h"
#include "core/model/generation.h"
#include "core/operators/tensor_data.h"
#include "core/reading/model_facts.h"

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

std::vector<std::int64_t> snapshotTokens(const Task& task, const Specification& specification) {
    const auto seed = static_cast<std::uint64_t>(specification.training.data_seed);
    const auto length = static_cast<std::size_t>(specification.snapshots.tokens);
    if (!task.hasProblems()) return task.tokens(seed, Stream::validation, 0, static_cast<int>(length));
    std::string text;
    for (std::uint64_t i = 0; text.size() < length; ++i)
        text += task.problem(seed, Stream::problems, i).text();
    text.resize(length);
    return task.vocabulary().encode(text);
}

void writeSnapshot(const RunFolder& folder, Transformer& model, const Task& task,
                   const Specification& specification, std::int64_t step) {
    const at::NoGradGuard no_gradients;
    const std::vector<std::int64_t> text = snapshotTokens(task, specification);
    const at::Tensor tokens = padRight({text});
    const at::Device device = model.parameters().front().second.device();
    const Transformer::ActivationStatistics statistics = model.statistics(tokens.to(device));
    const auto texts = mapped(text, [&](std::int64_t id) { return task.vocabulary().decode(id); });
    makeFolder(folder.snapshotsPath());
    writeSafetensors(
        folder.snapshotPath(step),
        TensorsToWrite(
            {{"attention", statistics.attention}, {"norms", statistics.norms}, {"tokens", tokens.flatten()}})
            .views(),
        {{"run", folder.name()},
         {"step", std::to_string(step)},
         {"text", task.vocabulary().decode(text)},
         {"causal", model.causal() ? "true" : "false"},
         {"token_texts", jsonList(texts)}});
}

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
