#include "core/training/snapshot.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "core/base/file_path.h"
#include "core/model/generation.h"
#include "core/operators/tensor_bytes.h"
#include "core/reading/model_facts.h"

namespace roper {

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
    std::vector<std::string> texts;
    for (const std::int64_t id : text)
        texts.push_back(task.vocabulary().decode(id));
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

}  // namespace roper
